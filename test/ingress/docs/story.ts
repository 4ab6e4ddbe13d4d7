import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { createAccessToken } from "../../../shared/accounts/access-tokens.ts";
import { updateMember } from "../../../shared/accounts/members.ts";
import type { Scope } from "../../../shared/accounts/scopes.ts";
import { hashToken, issueToken } from "../../../shared/crypto/tokens.ts";
import { approveCode, deviceGrantType, setUpClient } from "../../helpers/device.ts";
import type { TriggerApi } from "../../helpers/trigger-api.ts";
import { Recorder } from "./recorder.ts";

/** Calls every operation once or more, as clients do. Returns the recorded exchanges. */
export async function tellStory(api: TriggerApi): Promise<Recorder> {
  const { world, acme } = api;
  await updateMember(world.services, { organization: "acme", email: acme.user.email, role: "admin" });
  await api.features({ webhook_filtering: true });
  const recorder = await Recorder.open(world);
  const token = await newToken(api);
  const story: Story = { api, recorder, token, org: { org: "acme" } };

  await recorder.send("getRoot", "A greeting", { status: 200 });
  await accounts(story);
  await clustersAndQueues(story);
  await pipelines(story);
  await triggersAndBuilds(story);
  await oauth(story);
  await recorder.send("revokeAccessToken", "The token of the request", {
    token: await newToken(api),
    status: 204,
  });
  return recorder;
}

interface Story {
  api: TriggerApi;
  recorder: Recorder;
  token: string;
  org: { org: string };
}

async function newToken({ world, acme }: TriggerApi): Promise<string> {
  const token = {
    email: acme.user.email,
    organization: "acme",
    scopes: [
      "read_user",
      "read_organizations",
      "read_clusters",
      "write_clusters",
      "read_pipelines",
      "write_pipelines",
      "read_builds",
      "write_builds",
    ] as Scope[],
    description: "Release script",
  };
  return (await createAccessToken(world.services, token)).token;
}

async function accounts({ recorder, token, org }: Story) {
  await recorder.send("getUser", "The user of the token", { token, status: 200 });
  await recorder.send("getAccessToken", "The token of the request", { token, status: 200 });
  await recorder.send("getAccessToken", "No valid token", { token: issueToken("access"), status: 401 });
  await recorder.send("listOrganizations", "The organization of the token", { token, status: 200 });
  await recorder.send("getOrganization", "An organization", { token, path: org, status: 200 });
}

async function clustersAndQueues({ recorder, token, org }: Story) {
  const send = (id: string, summary: string, sent: Partial<Parameters<Recorder["send"]>[2]> = {}) =>
    recorder.send(id, summary, { token, status: 200, ...sent, path: { ...org, ...sent.path } });

  const created = await send("createCluster", "A cluster", {
    json: { name: "Machines", description: "Those in the basement", emoji: "⚙", color: "#2f6f4f" },
    status: 201,
  });
  await send("createCluster", "A name that is taken", { json: { name: "Machines" }, status: 422 });
  const cluster = { cluster: created.body.id };
  await send("createQueue", "A self-hosted queue", {
    path: cluster,
    json: { key: "default", description: "Jobs without secrets", retry_agent_affinity: "prefer-warmest" },
    status: 201,
  });
  const hosted = await send("createQueue", "A hosted queue", {
    path: cluster,
    json: { key: "macs", hostedAgents: { instanceShape: "MACOS_ARM64_M4_6X28" } },
    status: 201,
  });
  await send("createQueue", "A key with a space", { path: cluster, json: { key: "my queue" }, status: 422 });
  const queues = await send("listQueues", "A page of queues", { path: cluster });
  const queue = { ...cluster, queue: queues.body[0].id };
  const mac = { ...cluster, queue: hosted.body.id };
  await send("updateCluster", "Another default queue", {
    path: cluster,
    json: { default_queue_id: queue.queue },
  });
  await send("updateClusterByPatch", "Another description", {
    path: cluster,
    json: { description: "In the cellar" },
  });
  await send("listClusters", "A page of clusters", { query: { page: "1", per_page: "30" } });
  await send("getCluster", "A cluster", { path: cluster });
  await send("getQueue", "A queue", { path: queue });
  await send("updateQueue", "Another size of the hosted agents", {
    path: mac,
    json: { hostedAgents: { instanceShape: "MACOS_ARM64_M4_12X56" } },
  });
  await send("updateQueueByPatch", "Another description", {
    path: queue,
    json: { description: "Jobs with few secrets" },
  });
  await send("pauseDispatch", "A pause with a note", {
    path: queue,
    json: { dispatch_paused_note: "New disks, back at noon" },
  });
  await send("pauseDispatch", "The queue is paused already", { path: queue, json: {}, status: 422 });
  await send("resumeDispatch", "The queue again", { path: queue });
  await send("deleteQueue", "No answer but the status", { path: mac, status: 204 });
  const empty = await send("createCluster", "A cluster without a description", {
    json: { name: "Laboratory" },
    status: 201,
  });
  await send("deleteCluster", "No answer but the status", { path: { cluster: empty.body.id }, status: 204 });
}

async function pipelines({ recorder, token, org, api }: Story) {
  const send = (id: string, summary: string, sent: Partial<Parameters<Recorder["send"]>[2]> = {}) =>
    recorder.send(id, summary, { token, status: 200, ...sent, path: { ...org, ...sent.path } });

  const steps = [
    { label: "Test", command: "npm ci && npm test" },
    { label: "Deploy", command: "./deploy.sh", agents: { queue: "default" } },
  ];
  await send("createPipeline", "Two steps", {
    json: { name: "Site", cluster_id: api.acme.cluster.id, default_branch: "main", steps },
    status: 201,
  });
  await send("createPipeline", "No steps", {
    json: { name: "Empty", cluster_id: api.acme.cluster.id, steps: [] },
    status: 422,
  });
  const site = { slug: "site" };
  await send("updatePipeline", "Another branch", { path: site, json: { default_branch: "trunk" } });
  await send("updatePipelineByPatch", "Other steps", { path: site, json: { steps: steps.slice(0, 1) } });
  await send("getPipeline", "A pipeline", { path: site });
  await send("getPipeline", "No such pipeline", { path: { slug: "nowhere" }, status: 404 });
  await send("listPipelines", "A page of pipelines", { query: { page: "1", per_page: "30" } });
  await send("createPipeline", "The least that a pipeline needs", {
    json: { name: "Old site", cluster_id: api.acme.cluster.id, steps: [{ command: "make" }] },
    status: 201,
  });
  await send("deletePipeline", "No answer but the status", { path: { slug: "old-site" }, status: 204 });
}

async function triggersAndBuilds(story: Story) {
  const { recorder, token, org, api } = story;
  const site = { ...org, slug: "site" };
  const send = (id: string, summary: string, sent: Partial<Parameters<Recorder["send"]>[2]> = {}) =>
    recorder.send(id, summary, { token, status: 200, ...sent, path: { ...site, ...sent.path } });

  const secret = "correct horse battery staple";
  const created = await send("createTrigger", "Signed pushes of GitHub", {
    json: {
      type: "github",
      label: "Pushes",
      build: { message: "Somebody pushed", branch: "main", environment: { REGION: "eu-central" } },
      filter: { expression: 'webhook.payload.ref == "refs/heads/main"' },
      verification: { strategy: "hmac", secret },
    },
    status: 201,
  });
  await send("createTrigger", "A misplaced member", {
    json: { type: "webhook", label: "Hook", branch: "main" },
    status: 422,
  });
  const trigger = { trigger: created.body.id };

  const payload = {
    ref: "refs/heads/main",
    repository: { full_name: "acme/site" },
    pusher: { name: "octocat" },
  };
  const signature = createHmac("sha256", secret).update(JSON.stringify(payload)).digest("hex");
  const delivered = {
    path: { token: new URL(created.body.endpoint_url).pathname.split("/").at(-1) ?? "" },
    json: payload,
  };
  const headers = { "X-GitHub-Event": "push", "X-GitHub-Delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958" };
  const posted = await recorder.send("postDelivery", "A push", {
    ...delivered,
    headers: { "Idempotency-Key": "push-6113728f", "X-Hub-Signature-256": `sha256=${signature}`, ...headers },
    status: 201,
  });
  await recorder.send("postDelivery", "A wrong signature", {
    ...delivered,
    headers: { "X-Hub-Signature-256": `sha256=${"0".repeat(64)}`, ...headers },
    status: 401,
  });
  await api.work(posted.body.id);
  const delivery = { ...trigger, delivery: posted.body.id };

  await send("listTriggers", "A page of triggers", {});
  await send("getTrigger", "A trigger", { path: trigger });
  await send("updateTrigger", "Another branch, without the filter", {
    path: trigger,
    json: { build: { branch: "trunk" }, filter: null },
  });
  await send("testFilter", "A filter that matches", {
    path: trigger,
    json: { expression: 'webhook.payload.pusher.name == "octocat"', delivery_id: delivery.delivery },
  });
  await send("testFilter", "A filter that fails", {
    path: trigger,
    json: { expression: 'webhook.payload.size > "1"', delivery_id: delivery.delivery },
  });
  await send("listDeliveries", "A page of deliveries", { path: trigger });
  await send("getDelivery", "A delivery", { path: delivery });
  await send("getDeliveryRequest", "Headers and payload", { path: delivery });
  await send("rebuildDelivery", "A second build", { path: delivery, status: 201 });

  await send("listBuilds", "Builds of a branch that have not finished", {
    query: { state: "scheduled", branch: "main" },
  });
  await send("listBuildsOfPipeline", "A page of builds", {});
  await send("getBuild", "A build", { path: { number: "1" } });
  await agents(story);
  await send("cancelBuild", "A canceled build", { path: { number: "2" } });
  await send("cancelBuild", "It has finished", { path: { number: "2" }, status: 422 });
  await send("deleteTrigger", "No answer but the status", { path: trigger, status: 204 });
}

async function agents({ api: { world }, recorder }: Story) {
  const { db } = world.services;
  const [job] = (await db.select().from(db.tables.jobs)).toSorted((a, b) => a.id.localeCompare(b.id));
  assert.ok(job);
  const token = issueToken("job");
  const now = world.clock.now();
  const issued = {
    tokenHash: hashToken(token),
    jobId: job.id,
    readOnly: false,
    createdAt: now,
    expiresAt: new Date(now.getTime() + 3_600_000),
  };
  await db.transaction(async (tx) => void (await tx.insert(tx.tables.jobTokens).values(issued)));

  for (const [owner, id] of [
    ["Job", job.id],
    ["Build", job.buildId],
  ] as const) {
    const send = (verb: string, summary: string, json?: object, status = 200) =>
      recorder.send(`${verb}DataOf${owner}`, summary, { token, path: { id }, json, status });
    await send("set", "A value", { key: "release", value: "1.4.0" });
    await send("get", "A value", { key: "release" });
    await send("get", "The webhook's payload", { key: `${world.config.serviceName}:webhook` });
    await send("get", "No such key", { key: "nothing" }, 404);
    await send("exists", "A known key", { key: "release" });
    await send("keys", "The keys");
  }
}

async function oauth({ api: { world, acme }, recorder }: Story) {
  const options = { name: "Deploy CLI", clientId: "deploy-cli", refreshTokens: true };
  const { credentials } = await setUpClient(world, options);
  const { client_id } = credentials;
  const send = (id: string, summary: string, form: Record<string, string>, status = 200) =>
    recorder.send(id, summary, { form: { client_id, ...form }, status });

  const started = await send("authorizeDevice", "A public client", {
    scope: "read_user read_builds",
    organization: "acme",
  });
  await send("authorizeDevice", "An unknown scope", { scope: "read_everything" }, 400);
  const device = { grant_type: deviceGrantType, device_code: started.body.device_code };
  await send("issueToken", "The user has not decided", device, 400);
  await approveCode(world, acme, started.body.user_code);
  const refused = recorder.examples.issueToken ?? [];
  recorder.examples.issueToken = [];
  world.clock.advance(5000);
  const issued = await send("issueToken", "A poll after the user's approval", device);
  const refreshed = await send("issueToken", "A refresh", {
    grant_type: "refresh_token",
    refresh_token: issued.body.refresh_token,
  });
  recorder.examples.issueToken.push(...refused);
  await send("issueToken", "A code that was used", device, 400);
  await send("revokeToken", "A refresh token: its grant ends", { token: refreshed.body.refresh_token });

  const server = await setUpClient(world, { name: "Dashboard", clientId: "dashboard", confidential: true });
  const secret = { client_id: "dashboard", client_secret: server.secret };
  const asked = await recorder.send("authorizeDevice", "A confidential client", {
    form: { ...secret, scope: "read_builds" },
    status: 200,
  });
  await approveCode(world, acme, asked.body.user_code);
  const polled = await recorder.send("issueToken", "A confidential client", {
    form: { ...secret, grant_type: deviceGrantType, device_code: asked.body.device_code },
    status: 200,
  });
  await recorder.send("introspectToken", "An access token", {
    form: { ...secret, token: polled.body.access_token },
    status: 200,
  });
  await recorder.send("introspectToken", "A token that is not valid", {
    form: { ...secret, token: "none" },
    status: 200,
  });
  await recorder.send("introspectToken", "A wrong secret", {
    form: { ...secret, client_secret: "none", token: "none" },
    status: 401,
  });
  await recorder.send("getOAuthMetadata", "The endpoints", { status: 200 });
  await recorder.send("getOpenIdConfiguration", "The endpoints", { status: 200 });
}
