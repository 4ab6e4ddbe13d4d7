import assert from "node:assert/strict";
import { before, it } from "node:test";
import { listAuditEvents } from "../../../shared/accounts/audit-store.ts";
import { createConnection, deleteConnection } from "../../../shared/connections/connections.ts";
import { newConnection } from "../../../shared/connections/members.ts";
import { facts, token as hostToken, startStandIn } from "../../connections/stand-ins.ts";
import { describeWorld, withSettings } from "../../helpers/databases.ts";
import { request } from "../../helpers/http.ts";
import { startQueuePages } from "../../helpers/pages.ts";

const settings = { OUTBOUND_ALLOWED_NETWORKS: "127.0.0.0/8" };
const at = "/organizations/acme/pipelines/app";

describeWorld("the webhook at the host of a pipeline", withSettings(startQueuePages, settings), (pages) => {
  let token: string;
  const send = (method: string, path: string, body?: object) =>
    request(`${pages.url}/v2${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
  before(async () => {
    token = await pages.acme.token("read_pipelines", "write_pipelines");
    const repository = "git@github.com:acme/app.git";
    const app = { name: "App", cluster_id: pages.acme.cluster.id, repository, steps: [{ command: "make" }] };
    assert.equal((await send("POST", "/organizations/acme/pipelines", app)).status, 201);
  });
  const connect = (given: object) =>
    createConnection(
      pages.services,
      pages.actor,
      newConnection.parse({ type: "github", token: hostToken, ...given }),
    );

  it("is not made without a token, over REST and by the page, which says where to give one", async () => {
    const { status, body } = await send("POST", `${at}/webhook`);
    assert.equal(status, 422);
    assert.deepEqual(body, {
      message: "Auto-creating webhooks is not supported for your repository.",
      reason: "There is no repository connection with a token for github.com",
    });
    const asAdmin = (await pages.asAda.get(`${at}/provider`)).text;
    assert.match(asAdmin, /no repository connection with a token for github\.com/);
    assert.match(asAdmin, /<main[\s\S]*repository_connections/);
    assert.doesNotMatch((await pages.asBob.get(`${at}/provider`)).text, /repository_connections/);
    const posted = await pages.asAda.post(`${at}/provider/create`, {});
    assert.equal(posted.status, 422);
    assert.match(posted.text, /role="alert"[^>]*>Auto-creating webhooks is not supported/);
  });

  it("gets the address and the secret of the provider's webhook, again after a rotation", async () => {
    const host = await startStandIn("github", 1);
    const connection = await connect({ api_url: host.apiUrl });
    const first = await send("POST", `${at}/webhook`);
    assert.equal(first.status, 201, first.text);
    const { webhook_url: url, secret } = (await send("POST", `${at}/provider/rotate`)).body;
    assert.notEqual(first.body.webhook_url, url);

    const page = (await pages.asBob.get(`${at}/provider`)).text;
    assert.match(page, /Make it at GitHub for me/);
    assert.equal((await pages.asBob.post(`${at}/provider/create`, {})).status, 303);
    assert.equal((await pages.asBob.post(`${at}/provider/create`, {})).status, 303);
    assert.deepEqual(host.hooks.slice(2).map(facts), [{ url, secret }]);
    assert.deepEqual(host.wrong, []);

    const { id: pipelineId } = (await send("GET", at)).body;
    const filter = { organizationId: pages.acme.id, subjects: { types: ["pipeline"], ids: [pipelineId] } };
    const [entry] = await listAuditEvents(pages.services.db, filter as never, 1);
    assert.equal(entry?.event.action, "made the webhook at the host of");
    assert.deepEqual(entry?.event.changes, [{ field: "webhook", after: "github.com/acme/app" }]);
    await deleteConnection(pages.services, pages.actor, connection);
    await host.close();
  });

  it("says on the page what the host answered, and what its token needs", async () => {
    const host = await startStandIn("github");
    const connection = await connect({ api_url: host.apiUrl, token: "another" });
    const { status, text } = await pages.asBob.post(`${at}/provider/create`, {});
    assert.equal(status, 422);
    assert.match(text, /The host answered 401\. The token needs, besides others: “Webhooks: read and write”/);
    await deleteConnection(pages.services, pages.actor, connection);
    await host.close();
  });
});
