import assert from "node:assert/strict";
import { it } from "node:test";
import { createConnection } from "../../shared/connections/connections.ts";
import { newConnection } from "../../shared/connections/members.ts";
import { newNotificationService } from "../../shared/notifications/members.ts";
import { createNotificationService } from "../../shared/notifications/notification-services.ts";
import { createPipeline } from "../../shared/pipelines/pipelines.ts";
import { openWebhook, requireWebhook, rotateWebhook } from "../../shared/pipelines/provider/webhook.ts";
import { checkSecretKey, WrongSecretKey } from "../../shared/sealing/secret-key-check.ts";
import { openServices } from "../../shared/services/services.ts";
import { buildWebhook } from "../helpers/builds.ts";
import { describeOnBothDatabases } from "../helpers/databases.ts";
import { setUpOrganization } from "../helpers/organization.ts";
import { startWorld, type World } from "../helpers/world.ts";
import { runOperator } from "../scripts/operator.ts";

const newKey = "the next key, of at least 32 characters";

async function discard(world: World, ...options: string[]) {
  const env = { SECRET_KEY: newKey };
  const { stdout, stderr } = await runOperator(world, ["secrets", "discard", ...options], { env });
  assert.equal(stderr, "");
  return JSON.parse(stdout);
}

describeOnBothDatabases("secrets of a lost key", (database) => {
  it("are counted, then deleted as the Operator, and the installation starts with another key", async () => {
    const world = await startWorld(database);
    const { db, log, clock } = world.services;
    await checkSecretKey(world.services);
    const acme = await setUpOrganization(world);
    const plain = await acme.trigger({ environment: { COLOUR: "red" } });
    const signed = await acme.trigger({ type: "github", secret: "signing secret" });
    await buildWebhook(world, plain.path, "{}");
    const connected = newConnection.parse({ type: "github", token: "hunter2" });
    await createConnection(world.services, { organization: acme, userId: acme.user.id }, connected);
    const chat = newNotificationService.parse({
      provider: "slack",
      settings: { url: "https://chat.example.com/hooks/hunter2" },
    });
    await createNotificationService(world.services, { organization: acme, userId: acme.user.id }, chat);
    const services = openServices({ config: { ...world.config, secretKey: newKey }, log, clock });
    const counts = {
      variables_of_pipelines: 0,
      variables_of_triggers: 1,
      secrets_of_triggers: 1,
      addresses_of_webhooks: 0,
      tokens_of_connections: 1,
      secrets_of_notification_services: 1,
      variables_of_builds: 1,
      secrets_of_clusters: 0,
      signing_keys: 0,
    };

    assert.deepEqual(await discard(world), { discarded: false, ...counts });
    await assert.rejects(checkSecretKey(services), WrongSecretKey);
    const before = (await db.select().from(db.tables.auditEvents)).length;
    assert.deepEqual(await discard(world, "--key-is-lost"), { discarded: true, ...counts });

    assert.ok(await checkSecretKey(services));
    const triggers = await db.select().from(db.tables.triggers);
    const rows = triggers.map(({ id, enabled, secretSealed, environmentSealed }) => [
      [id, enabled],
      [secretSealed, environmentSealed],
    ]);
    assert.deepEqual(
      new Map(rows.map(([row]) => row as [string, boolean])),
      new Map([
        [plain.id, true],
        [signed.id, false],
      ]),
    );
    assert.deepEqual(rows.flatMap(([, sealed]) => sealed).filter(Boolean), []);
    const events = (await db.select().from(db.tables.auditEvents)).slice(before);
    const users = await db.select().from(db.tables.users);
    assert.deepEqual(events.map(({ subjectType }) => subjectType).sort(), [
      "build",
      "notification_service",
      "repository_connection",
      "trigger",
      "trigger",
    ]);
    for (const { actorId } of events) assert.equal(users.find(({ id }) => id === actorId)?.name, "Operator");
    assert.deepEqual(await discard(world), {
      discarded: false,
      variables_of_pipelines: 0,
      variables_of_triggers: 0,
      secrets_of_triggers: 0,
      addresses_of_webhooks: 0,
      tokens_of_connections: 0,
      secrets_of_notification_services: 0,
      variables_of_builds: 0,
      secrets_of_clusters: 0,
      signing_keys: 0,
    });
    await services.close();
    await world.close();
  });

  it("leave the webhook of a provider switched off, until it is rotated", async () => {
    const world = await startWorld(database);
    const { db, log, clock } = world.services;
    await checkSecretKey(world.services);
    const { cluster, operator } = await setUpOrganization(world);
    const { id } = await createPipeline(world.services, operator, {
      clusterId: cluster.id,
      name: "App",
      repository: "https://github.com/acme/app.git",
      steps: [{ command: "make" }],
    });
    const before = await requireWebhook(world.services, operator, { id });
    assert.equal((await discard(world, "--key-is-lost")).addresses_of_webhooks, 1);

    const services = openServices({ config: { ...world.config, secretKey: newKey }, log, clock });
    const after = await requireWebhook(services, operator, { id });
    assert.deepEqual([after.id, after.enabled], [before.id, false]);
    assert.deepEqual(openWebhook(services, after), { webhookUrl: "", secret: null });
    const actions = (await db.select().from(db.tables.auditEvents)).map(({ action }) => action);
    assert.ok(actions.includes("discarded the lost address of"), actions.join(", "));
    assert.match((await rotateWebhook(services, operator, { id })).webhookUrl, /\/deliver\/sbwh_/);
    assert.equal((await requireWebhook(services, operator, { id })).enabled, true);
    await services.close();
    await world.close();
  });
});
