import { createAccessToken } from "../../../../shared/accounts/access-tokens.ts";
import { updateMember } from "../../../../shared/accounts/members.ts";
import type { Scope } from "../../../../shared/accounts/scopes.ts";
import { issueToken } from "../../../../shared/crypto/tokens.ts";
import { eventually, get } from "../../../helpers/http.ts";
import type { TriggerApi } from "../../../helpers/trigger-api.ts";
import { Recorder } from "../recorder.ts";
import type { Story } from "./chapter.ts";
import { clustersAndQueues } from "./clusters-and-queues.ts";
import { oauth } from "./oauth.ts";
import { pipelines } from "./pipelines.ts";
import { resourcesOf } from "./resources.ts";
import { services } from "./services.ts";
import { triggersAndBuilds } from "./triggers-and-builds.ts";

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
  await resourcesOf(story, "");
  await services(story);
  await clustersAndQueues(story);
  await pipelines(story);
  await triggersAndBuilds(story);
  const query = { subject_type: "queue", action: "deleted" };
  const ofOrganization = { token, path: story.org, status: 200 };
  const deleted = await recorder.send("listAuditEvents", "Deleted queues", { ...ofOrganization, query });
  const event = deleted.body.items[0].id;
  await recorder.send("getAuditEvent", "An entry", { ...ofOrganization, path: { ...story.org, event } });
  await recorder.send("getRateLimit", "The limit of the token", ofOrganization);
  await settings(recorder, ofOrganization);
  await recorder.send("listEmojis", "None", ofOrganization);
  await oauth(story);
  await recorder.send("revokeAccessToken", "The token of the request", {
    token: await newToken(api),
    status: 204,
  });
  await eventually("the installation", async () => {
    return (await get(`${world.url}/healthz`)).body.installation !== undefined;
  });
  await recorder.send("getHealth", "It is alive", { status: 200 });
  await recorder.send("getReadiness", "All parts are there", { status: 200 });
  return recorder;
}

async function settings(recorder: Recorder, call: { token: string; path: { org: string }; status: number }) {
  await recorder.send("getApiSettings", "What holds", call);
  await recorder.send("updateApiSettings", "It holds already", {
    ...call,
    json: { allowed_ip_addresses: null },
  });
  await recorder.send("updateApiSettings", "It does not", {
    ...call,
    json: { restrict_user_api_token_creation: true },
    status: 422,
  });
  await recorder.send("getPipelineSettings", "What holds", call);
  await recorder.send("updatePipelineSettings", "It holds already", {
    ...call,
    json: { default_branch: "main" },
  });
  await recorder.send("updatePipelineSettings", "It does not", {
    ...call,
    json: { maximum_timeout_in_minutes: 60 },
    status: 422,
  });
  for (const id of ["disableHostedAgentsSsh", "disablePublicPipelines", "disableBuildExport"])
    await recorder.send(id, "They are off", call);
}

async function newToken({ world, acme }: TriggerApi): Promise<string> {
  const token = {
    email: acme.user.email,
    organization: "acme",
    scopes: [
      "read_user",
      "write_user",
      "read_organizations",
      "read_organization_settings",
      "write_organization_settings",
      "read_audit_events",
      "read_clusters",
      "write_clusters",
      "read_secrets_details",
      "write_secrets",
      "read_organization_repository_connections",
      "write_organization_repository_connections",
      "read_notification_services",
      "write_notification_services",
      "read_pipelines",
      "write_pipelines",
      "read_builds",
      "write_builds",
      "read_agents",
      "write_agents",
      "read_job_env",
      "read_build_logs",
      "write_build_logs",
      "read_artifacts",
      "write_artifacts",
      "read_secrets_details",
      "write_secrets",
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
  const { body } = await recorder.send("listMembers", "A page of members", { token, path: org, status: 200 });
  const path = { ...org, member: body[0].id };
  await recorder.send("getMember", "A member", { token, path, status: 200 });
  const mails = { token, path: org };
  await recorder.send("getMails", "Mails about builds that fail", { ...mails, status: 200 });
  const all = { ...mails, json: { build_mails: "all" } };
  await recorder.send("updateMails", "Mails about all builds", { ...all, status: 200 });
  const some = { ...mails, json: { build_mails: "some" } };
  await recorder.send("updateMails", "A choice that does not exist", { ...some, status: 422 });
  await recorder.send("getMeta", "The facts", { token, status: 200 });
}
