import { createHmac } from "node:crypto";
import { createConnection, deleteConnection } from "../../../../shared/connections/connections.ts";
import { newConnection } from "../../../../shared/connections/members.ts";
import { startStandIn, token } from "../../../connections/stand-ins.ts";
import { openSender, type Story } from "./chapter.ts";

const sha = "6113728f27ae82c7b1a177c8d03f9e96e0adf246";
const push = {
  ref: "refs/heads/main",
  before: "0".repeat(40),
  after: sha,
  deleted: false,
  compare: "https://github.com/acme/app/commit/6113728f27ae",
  head_commit: { id: sha, message: "Make it faster", author: { name: "Ada", email: "ada@example.com" } },
  repository: { id: 7, full_name: "acme/app", clone_url: "https://github.com/acme/app.git" },
};

/** A pipeline whose repository is on GitHub. */
export async function provider(story: Story) {
  const { recorder, api, org } = story;
  const app = { ...org, slug: "app" };
  const send = openSender(story, app);
  await openSender(story, org)("createPipeline", "A repository on GitHub, whose tags are built too", {
    json: {
      name: "App",
      cluster_id: api.acme.cluster.id,
      repository: "git@github.com:acme/app.git",
      provider_settings: { build_tags: true },
      steps: [{ command: "make" }],
    },
    status: 201,
  });
  await send("updatePipelineByPatch", "A setting that the provider cannot follow", {
    json: { provider_settings: { build_release_published: true } },
    status: 422,
  });
  const { webhook_url } = (await send("rotateProvider", "A new address and secret", {})).body;
  const secret = "correct horse battery staple";
  await send("setProviderSecret", "A secret of yours", { json: { secret }, status: 204 });
  await send("setProviderSecret", "A short secret", { json: { secret: "secret" }, status: 422 });
  const { services } = api.world;
  const host = await startStandIn("github");
  const given = newConnection.parse({ type: "github", api_url: host.apiUrl, token });
  const actor = { organization: api.acme, userId: api.acme.user.id };
  const connection = await createConnection(services, actor, given);
  await send("createWebhook", "The webhook at the host", { status: 201 });
  await deleteConnection(services, actor, connection);
  await host.close();
  await send("createWebhook", "No token for the host", { status: 422 });
  await send("disableGithubWebhooks", "Webhooks are refused", {});
  await send("enableGithubWebhooks", "Webhooks are taken", {});
  await send("getGithubWebhooks", "Webhooks are taken", {});

  const signature = createHmac("sha256", secret).update(JSON.stringify(push)).digest("hex");
  const posted = await recorder.send("postDelivery", "A push to the provider's webhook", {
    path: { token: new URL(webhook_url).pathname.split("/").at(-1) ?? "" },
    json: push,
    headers: { "X-GitHub-Event": "push", "X-Hub-Signature-256": `sha256=${signature}` },
    status: 201,
  });
  await api.work(posted.body.id);
  const delivery = { delivery: posted.body.id };
  await send("listProviderDeliveries", "A page of deliveries", {});
  await send("getProviderDelivery", "A delivery", { path: delivery });
  await send("getProviderDeliveryRequest", "Headers and payload", { path: delivery });
  await send("rebuildProviderDelivery", "A second build", { path: delivery, status: 201 });
}
