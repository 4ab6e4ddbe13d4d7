import { createHmac } from "node:crypto";
import { agents } from "./agents.ts";
import { openSender, type Story } from "./chapter.ts";
import { unblocking } from "./unblocking.ts";

export async function triggersAndBuilds(story: Story) {
  const { recorder, org, api } = story;
  const site = { ...org, slug: "site" };
  const send = openSender(story, site);

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
  const bulk = await send("createBulkRebuild", "All pushes that were built", {
    path: trigger,
    json: { status: "build_created", event: "push", received_from: "2026-01-01T00:00:00Z" },
    status: 201,
  });
  await send("createBulkRebuild", "One of the trigger runs", { path: trigger, status: 422 });
  const bulkRebuild = { ...trigger, rebuild: bulk.body.id };
  await send("listBulkRebuilds", "A page of bulk rebuilds", { path: trigger });
  await send("getBulkRebuild", "It has not begun", { path: bulkRebuild });
  await send("cancelBulkRebuild", "A canceled bulk rebuild", { path: bulkRebuild });
  await send("cancelBulkRebuild", "It has finished", { path: bulkRebuild, status: 422 });

  await send("listBuilds", "Builds of a branch that have not finished", {
    query: { state: "scheduled", branch: "main" },
  });
  const { token } = story;
  await recorder.send("listAllBuilds", "A page of builds", { token, status: 200 });
  await send("listBuildsOfPipeline", "A page of builds", {});
  await send("getBuild", "A build", { path: { number: "1" } });
  await agents(story);
  await unblocking(story);
  await send("cancelBuild", "A canceled build", { path: { number: "2" } });
  await send("cancelBuild", "It has finished", { path: { number: "2" }, status: 422 });
  await send("createBuild", "A commit of a branch", {
    json: {
      commit: "6113728f27ae82c7b1a177c8d03f9e96e0adf246",
      branch: "topic",
      message: "Try the new cache",
      env: { CACHE: "on" },
      meta_data: { release: "1.1" },
      author: { name: "Ada", email: "ada@example.com" },
    },
    status: 201,
  });
  await send("createBuild", "A name that every build sets itself", {
    json: { env: { SIGNALBOX_COMMIT: "HEAD" } },
    status: 422,
  });
  await send("rebuildBuild", "A new build", { path: { number: "2" } });
  await send("deleteTrigger", "No answer but the status", { path: trigger, status: 204 });
}
