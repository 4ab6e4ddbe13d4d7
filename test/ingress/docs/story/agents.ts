import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { closeLog } from "../../../../shared/agents/logs/evict.ts";
import { hashToken, issueToken } from "../../../../shared/crypto/tokens.ts";
import { hourMs } from "../../../../shared/durations.ts";
import { createSecret } from "../../../../shared/secrets/secrets.ts";
import { leaseJob } from "../../../agents/logs/jobs-with-logs.ts";
import { agentTokenOf, startAgent } from "../../../helpers/agent.ts";
import type { Sent } from "../recorder.ts";
import { openSender, type Story } from "./chapter.ts";
import { leftByJobs } from "./left-by-jobs.ts";
import { stacks } from "./stacks.ts";

export async function agents(story: Story) {
  await dataOfBuilds(story);
  await connectedAgents(story);
  await jobs(story);
  await lifeOfAnAgent(story);
  await stacks(story);
}

async function connectedAgents(story: Story) {
  const { world, acme } = story.api;
  const send = openSender(story, story.org);
  const registrationToken = await agentTokenOf(world, acme.cluster);
  const { id } = await startAgent(world.url, registrationToken, {
    name: "basement-1",
    meta_data: ["gpu=yes"],
  });
  const agent = { agent: id };

  await send("listAgents", "Agents of a name", { query: { name: "basement-1" } });
  await send("getAgent", "An agent", { path: agent });
  await send("pauseAgent", "A pause of an hour", {
    path: agent,
    json: { note: "New disks", timeout_in_minutes: 60 },
  });
  await send("pauseAgent", "The agent is paused already", { path: agent, json: {}, status: 422 });
  await send("resumeAgent", "The agent again", { path: agent });
  await send("stopAgent", "Together with its job", { path: agent, json: { force: true } });
}

async function jobs(story: Story) {
  const send = openSender(story, { ...story.org, slug: "site" });
  const { body } = await send("getBuild", "A build", { path: { number: "1" } });
  const job = { number: "1", job: body.jobs[0].id };

  await send("listJobs", "A page of jobs", { path: { number: "1" }, query: { "state[]": "scheduled" } });
  await send("getJob", "A job", { path: job });
  await send("getJobById", "A job", { path: job });
  await send("reprioritizeJob", "Before the others", { path: job, json: { priority: 10 } });
  await send("reprioritizeJobById", "As usual", { path: job, json: { priority: 0 } });
  await send("getJobEnvironment", "The variables of a job", { path: job });
  await send("getJobEnvironmentById", "The variables of a job", { path: job });
  await logOfJob(story, body.jobs[0].id);
  await send("getJobLog", "A log", { path: job });
  await send("getJobLogText", "A log", { path: job });
  await send("getJobLogHtml", "A log", { path: job });
  for (const kind of ["", "Text", "Html"]) await send(`getJobLog${kind}ById`, "A log", { path: job });
  await send("cancelJob", "A canceled job", { path: job });
  await send("cancelJob", "It has finished", { path: job, status: 422 });
  await send("deleteJobLog", "No answer but the status", { path: job, status: 204 });
  await send("deleteJobLogById", "It was deleted before", { path: job, status: 204 });
  await send("getJobLog", "It was deleted", { path: job, status: 404 });
  const retry = await send("retryJob", "The new job", { path: job });
  await send("retryJob", "It was retried", { path: job, status: 422 });
  await send("reprioritizeJob", "It has finished", { path: job, json: { priority: 1 }, status: 422 });
  const other = { number: "1", job: body.jobs[1].id };
  await send("cancelJob", "Another job", { path: other });
  await send("retryJobById", "The new job", { path: other });
  await send("retryFailedJobs", "None is left", {
    path: { number: "1" },
    json: { states: "failed,timed_out" },
    status: 202,
  });
  await send("retryFailedJobs", "Unknown states", {
    path: { number: "1" },
    json: { states: "lost" },
    status: 400,
  });
  await uploads(story, retry.body.id);
}

/** Leases the job, writes, and gives it back. */
async function logOfJob({ api: { world, acme } }: Story, id: string) {
  const { db } = world.services;
  const logged = await leaseJob(world.services, { id, organizationId: acme.id });
  await logged.log("+++ Tests\r\n\u001b[32mpassed\u001b[0m\r\n");
  await logged.setState("scheduled");
  await db.transaction((tx) => closeLog(tx, logged.lease));
}

async function lifeOfAnAgent(story: Story) {
  const { api, recorder } = story;
  const { world, acme } = api;
  const registrationToken = await agentTokenOf(world, acme.cluster);
  const queue = await api.newQueue({ key: "linux" });
  const pipeline = await api.newPipeline({
    name: "Nightly",
    steps: [{}, {}, { key: "report", label: "Report" }].map((more) => ({
      command: "make",
      agents: { queue: "linux" },
      ...more,
    })),
  });
  await api.build(pipeline.id);
  for (const [key, policy] of [
    ["UPLOAD_TOKEN", null],
    ["DEPLOY_TOKEN", "- pipeline_slug: site"],
  ] as const)
    await createSecret(world.services, acme.operator, acme.cluster, {
      key,
      value: `value of ${key}`,
      description: null,
      policy,
    });
  const tag = `queue=${queue.key}`;

  const { body: agent } = await recorder.send("registerAgent", "An agent of a queue", {
    token: registrationToken,
    json: { name: "builder-%pid", hostname: "rack-4", pid: 4711, version: "3.137.0", meta_data: [tag] },
    status: 200,
  });
  await recorder.send("registerAgent", "No such queue", {
    token: registrationToken,
    json: { name: "builder", meta_data: ["queue=none"] },
    status: 422,
  });
  await recorder.send("getAgentTokenIdentity", "The token", { token: registrationToken, status: 200 });
  const ofCluster = { token: registrationToken, status: 200 };
  await recorder.send("getAgentMetrics", "Of a cluster", ofCluster);
  await recorder.send("getAgentMetricsOfQueue", "Of a queue", { ...ofCluster, query: { name: "linux" } });
  const send = (id: string, summary: string, sent: Partial<Sent> = {}) =>
    recorder.send(id, summary, { token: agent.access_token, status: 200, ...sent });
  await send("connectAgent", "A session begins");
  await send("heartbeatAgent", "A sign of life", { json: { sent_at: "2026-01-31T12:00:00.5Z" } });
  const { body: offer } = await send("pingAgent", "A job");
  const path = { id: offer.job.id };
  const { body: job } = await send("acceptJob", "The job", { path });
  const ofJob = { path, token: job.token };
  await send("startJob", "Its command starts", { ...ofJob, json: { started_at: "2026-01-31T12:00:01.5Z" } });
  await send("getJobState", "It goes on", ofJob);
  const ofSecret = (key: string) => ({ ...ofJob, query: { key } });
  await send("getSecretOfJob", "A secret", ofSecret("UPLOAD_TOKEN"));
  await send("getSecretOfJob", "For another pipeline", { ...ofSecret("DEPLOY_TOKEN"), status: 403 });
  await send("getSecretOfJob", "No such secret", { ...ofSecret("OTHER"), status: 404 });
  const ofRegistry = { ...ofJob, path: { registry: "default" } };
  const entry = { target_paths: ["node_modules"], cache_key: [{ value: "v1", mandatory: true }] };
  await send("getCacheRegistry", "Any name", ofRegistry);
  await send("peekCache", "There is nothing to save", { ...ofRegistry, json: entry });
  await send("expireCache", "Nothing", { ...ofRegistry, json: entry });
  await send("sendJobLog", "The beginning", {
    ...ofJob,
    query: { sequence: "1", offset: "0", size: "20" },
    json: "~~~ Running commands",
  });
  await send("sendHeaderTimes", "Times", ofJob);
  await send("pauseOwnAgent", "No job after this one", { ...ofJob, json: { note: "New disks" } });
  await send("resumeOwnAgent", "The next job", ofJob);
  const { body: running } = await api.send("GET", `/pipelines/${pipeline.slug}/builds/1`);
  await leftByJobs(story, { id: path.id, token: job.token, buildId: running.id, slug: pipeline.slug });
  const ofStep = { path: { step: "report" }, token: job.token };
  await send("updateJob", "Twenty minutes from its start", { ...ofJob, json: { timeout: "20" } });
  await send("promiseFailure", "A test failed", { ...ofJob, json: { exit_status: 1 }, status: 204 });
  const forCloud = { audience: "sts.amazonaws.com", lifetime: 900, claims: ["queue_key"] };
  await send("issueIdentityToken", "For a cloud", { ...ofJob, json: forCloud });
  await send("issueIdentityToken", "A day", { ...ofJob, json: { lifetime: 86_400 }, status: 422 });
  await send("getIssuerMetadata", "The issuer", { token: "" });
  await send("getIssuerKeys", "A key", { token: "" });
  await send("exportStep", "Its label", { ...ofStep, json: { attribute: "label" } });
  await send("exportStep", "All of it", { ...ofStep, json: { format: "json" } });
  await send("exportStep", "All of it, as text", { ...ofStep, json: {}, status: 400 });
  const update = { attribute: "label", value: " of today", append: true };
  await send("updateStep", "More of a label", { ...ofStep, json: update });
  await send("updateStep", "A command", {
    ...ofStep,
    json: { attribute: "command", value: "make all" },
    status: 400,
  });
  await send("cancelStep", "By force", { ...ofStep, json: { force: true, force_grace_period: 30 } });
  await send("finishJob", "Its command failed", { ...ofJob, json: { exit_status: "1" } });
  await send("getJobState", "An attempt that is over", ofJob);

  const { body: build } = await api.send("GET", `/pipelines/${pipeline.slug}/builds/1`);
  const next = build.jobs.find(({ state }: { state: string }) => state === "scheduled");
  const ofNext = { path: { id: next.id } };
  await send("finishJob", "The agent does not have it", {
    ...ofNext,
    json: { exit_status: "0" },
    status: 422,
  });
  const acquired = await send("acquireJob", "The job", ofNext);
  const ofBuild = { path: { id: build.id }, token: acquired.body.token };
  await send("searchArtifacts", "There are none", { path: { id: build.id }, query: { query: "*" } });
  await send("acquireJob", "It has finished", { path, status: 422 });
  await send("cancelBuildFromJob", "The build of the job", ofBuild);
  await send("stopOwnAgent", "Together with its job", { json: { force: true } });
  await send("disconnectAgent", "The session ends");
  await send("pingAgent", "The session has ended", { status: 401 });
}

async function dataOfBuilds({ api: { world, acme }, recorder }: Story) {
  const { db } = world.services;
  const [job] = (await db.select().from(db.tables.jobs)).toSorted((a, b) => a.id.localeCompare(b.id));
  assert.ok(job);
  const token = issueToken("job");
  const now = world.clock.now();
  const { lease, setState } = await leaseJob(world.services, { id: job.id, organizationId: acme.id });
  const issued = {
    tokenHash: hashToken(token),
    jobId: job.id,
    attempt: lease.attempt,
    readOnly: false,
    createdAt: now,
    expiresAt: new Date(now.getTime() + hourMs),
  };
  await db.transaction(async (tx) => void (await tx.insert(tx.tables.jobTokens).values(issued)));

  for (const [owner, id] of [
    ["Job", job.id],
    ["Build", job.buildId],
  ] as const) {
    const send = (verb: string, summary: string, json?: object, status = 200) =>
      recorder.send(`${verb}DataOf${owner}`, summary, { token, path: { id }, json, status });
    await send("set", "A value", { key: "release", value: "1.4.0" });
    await send("setBatch", "Two values", {
      items: [
        { key: "release", value: "1.4.0" },
        { key: "channel", value: "beta" },
      ],
    });
    await send("get", "A value", { key: "release" });
    await send("get", "The webhook's payload", { key: `${world.config.serviceName}:webhook` });
    await send("get", "No such key", { key: "nothing" }, 404);
    await send("exists", "A known key", { key: "release" });
    await send("keys", "The keys");
  }
  await setState(job.state);
}

async function uploads(story: Story, id: string) {
  const { api, recorder } = story;
  const { world, acme } = api;
  const agent = await startAgent(world.url, await agentTokenOf(world, acme.cluster));
  const acquired = await agent.send("PUT", `/jobs/${id}/acquire`);
  const { token } = acquired.body;
  await agent.send("PUT", `/jobs/${id}/start`, {}, token);

  const uuid = randomUUID();
  const deploy = { label: "Deploy", command: "./deploy.sh", notify: [{ slack: "#deployments" }] };
  await recorder.send("uploadPipeline", "A step behind a wait, which tells a chat that is not there", {
    token,
    path: { id },
    json: { uuid, pipeline: { env: { STAGE: "beta" }, steps: ["wait", deploy] } },
    status: 200,
  });
  await recorder.send("uploadPipeline", "A step that cannot run as it says", {
    token,
    path: { id },
    json: { uuid: randomUUID(), pipeline: { steps: [{ command: "make", if: "build.color" }] } },
    status: 422,
  });
  await recorder.send("getPipelineUpload", "It is applied", {
    token,
    path: { id, upload: uuid },
    status: 200,
  });
  const send = openSender(story, { ...story.org, slug: "site" });
  await send("listStepUploads", "A page of uploads", { path: { number: "1" } });
  await send("getStepUpload", "An upload", { path: { number: "1", upload: uuid } });
}
