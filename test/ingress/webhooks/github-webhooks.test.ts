import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { it } from "node:test";
import { sign } from "@octokit/webhooks-methods";
import { findPayload } from "../../../shared/triggers/payloads/store.ts";
import { allBuilds } from "../../helpers/builds.ts";
import { describeOnSqlite } from "../../helpers/databases.ts";
import { eventually, post } from "../../helpers/http.ts";
import { setUpOrganization } from "../../helpers/organization.ts";
import { repeat } from "../../helpers/run-mode.ts";
import { startWorld } from "../../helpers/world.ts";

const events = createRequire(import.meta.url)("@octokit/webhooks-examples") as {
  name: string;
  examples: unknown[];
}[];
const secret = "It's a Secret to Everybody";

/** Uses unusual indentation for every published payload. */
const everyDelivery = events.flatMap(({ name, examples }) =>
  examples.map((payload, index) => ({
    event: name,
    id: `${name}-${index}`,
    body: JSON.stringify(payload, null, 1),
  })),
);
const deliveries = everyDelivery.filter((_, index) => index % repeat(10, 1) === 0);

describeOnSqlite("signed GitHub webhooks", (database) => {
  it("each create one build with exactly the sent payload", async () => {
    const world = await startWorld(database, { META_DATA_READS_PER_MINUTE: "1000" });
    const acme = await setUpOrganization(world);
    const { path } = await acme.trigger({ type: "github", secret });
    await world.startWorkers();
    assert.ok(everyDelivery.length > 300);

    const idOf = new Map<string, string>();
    for (const { event, id, body } of deliveries) {
      const answer = await post(world.url + path, body, {
        "User-Agent": "GitHub-Hookshot/044aadd",
        "X-GitHub-Event": event,
        "X-GitHub-Delivery": id,
        "X-Hub-Signature-256": await sign(secret, body),
      });
      assert.equal(answer.status, 201, `${id}: ${answer.text}`);
      idOf.set(answer.body.id, body);
    }
    const builds = await eventually("all builds", async () => {
      const all = await allBuilds(world);
      return all.length >= deliveries.length && all;
    });

    assert.equal(builds.length, deliveries.length);
    assert.deepEqual(new Set(builds.map((build) => build.deliveryId)), new Set(idOf.keys()));
    const { db } = world.services;
    for (const [id, body] of idOf) {
      assert.ok((await findPayload(db, id))?.body.equals(Buffer.from(body)), id);
    }
    const externalIds = (await db.select().from(db.tables.deliveries)).map((delivery) => delivery.externalId);
    assert.deepEqual(new Set(externalIds), new Set(deliveries.map(({ id }) => id)));
    await world.close();
  });
});
