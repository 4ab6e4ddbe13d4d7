import assert from "node:assert/strict";
import { before, it } from "node:test";
import { eq } from "drizzle-orm";
import { createPipeline } from "../../../shared/pipelines/pipelines.ts";
import { followProviders, followProvidersOfAll } from "../../../shared/pipelines/provider/follow.ts";
import { openWebhook, requireWebhook } from "../../../shared/pipelines/provider/webhook.ts";
import { findWebhook } from "../../../shared/pipelines/provider/webhook-store.ts";
import { later } from "../../../shared/tasks/store.ts";
import { doTasks } from "../../helpers/builds.ts";
import { describeWorld } from "../../helpers/databases.ts";
import { onGithub, openProviderApi, webhookPattern } from "./provider-api.ts";

const steps = [{ command: "make" }];

describeWorld("webhooks of pipelines that a version without them made", openProviderApi, (api) => {
  let services: typeof api.world.services;
  let db: typeof services.db;
  before(() => {
    services = api.world.services;
    db = services.db;
  });

  const makeOld = async (amount: number, repository: string | null = onGithub): Promise<string[]> => {
    const ids: string[] = [];
    for (let i = 0; i < amount; i++) {
      const name = `${repository ?? "none"} ${i} ${Math.random()}`;
      const given = { name, clusterId: api.acme.cluster.id, steps, repository };
      ids.push((await createPipeline(services, api.acme.operator, given)).id);
    }
    const { triggers } = db.tables;
    await db.transaction(async (tx) => {
      for (const id of ids) await tx.delete(triggers).where(eq(triggers.pipelineId, id));
    });
    return ids;
  };
  const typesOf = (ids: string[]) =>
    Promise.all(ids.map(async (id) => (await findWebhook(db, { pipelineId: id }))?.type));
  const follow = () => doTasks(services, { providers: followProviders });
  const tasks = async () =>
    (await db.select().from(db.tables.tasks)).filter(({ kind }) => kind === "providers");

  it("are made by a worker, twice, an hour apart", async () => {
    const old = await makeOld(130);
    const none = await makeOld(3, null);
    assert.equal((await tasks()).length, 0);
    await followProvidersOfAll(services);
    assert.ok((await tasks()).length > 0);
    await follow();
    assert.deepEqual(await tasks(), []);
    assert.deepEqual(new Set(await typesOf(old)), new Set(["github"]));
    assert.deepEqual(new Set(await typesOf(none)), new Set([undefined]));

    const [late = ""] = await makeOld(1);
    await followProvidersOfAll(services);
    assert.equal((await tasks()).length, 0);
    api.world.clock.advance(3_600_000);
    await followProvidersOfAll(services);
    await follow();
    assert.deepEqual(await typesOf([late]), ["github"]);
    await makeOld(1);
    api.world.clock.advance(3_600_000);
    await followProvidersOfAll(services);
    assert.equal((await tasks()).length, 0, "it is done for good");
  });

  it("stay as they are where they are right", async () => {
    const made = await api.hooked();
    await db.transaction((tx) => later(tx, "providers", api.acme.id, [api.acme.id]));
    await follow();
    assert.equal((await api.shown(made)).provider.webhook_url, made.provider.webhook_url);
  });

  it("come and go with the organization's own hosts", async () => {
    const host = api.newHost();
    const made = await api.hooked({ repository: `https://${host}/acme/app.git` });
    assert.equal(made.provider.webhook_url, "");
    await api.connect(host);
    await db.transaction((tx) => later(tx, "providers", api.acme.id, [api.acme.id]));
    await follow();
    assert.match((await api.shown(made)).provider.webhook_url, webhookPattern);
    assert.deepEqual(await typesOf([made.id]), ["gitea"]);
    const { repositoryConnections: connections } = db.tables;
    await db.transaction(async (tx) => {
      await tx.delete(connections).where(eq(connections.host, host));
      await later(tx, "providers", api.acme.id, [api.acme.id]);
    });
    await follow();
    assert.deepEqual(await typesOf([made.id]), [undefined]);
  });

  it("are made at once where somebody asks for one", async () => {
    const [id = ""] = await makeOld(1);
    const webhook = await requireWebhook(services, api.acme.operator, { id });
    const { webhookUrl, secret } = openWebhook(services, webhook);
    assert.match(webhookUrl, webhookPattern);
    assert.match(secret ?? "", /^sbws_/);
    const again = await requireWebhook(services, api.acme.operator, { id });
    assert.equal(openWebhook(services, again).webhookUrl, webhookUrl);
  });
});
