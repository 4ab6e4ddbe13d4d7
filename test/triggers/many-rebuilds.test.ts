import assert from "node:assert/strict";
import { it } from "node:test";
import { and, eq, lt } from "drizzle-orm";
import { createBuilds } from "../../shared/builds/making/builds.ts";
import { buildRequest } from "../helpers/api.ts";
import { describeWorld } from "../helpers/databases.ts";
import { openTriggerApi } from "../helpers/trigger-api.ts";

const rebuilds = 1200;
const purged = 600;

describeWorld("a delivery that was built 1,201 times", openTriggerApi, (api) => {
  it("has all of its builds in lists, in their order, beside deliveries with one and with none", async () => {
    const { db, clock } = api.world.services;
    const trigger = await api.newTrigger();
    const path = `${api.triggersAt()}/${trigger.id}/deliveries`;
    const unfiltered = await api.deliver(trigger);
    const id = await api.deliver(trigger);
    const waiting = async () => (await api.send("GET", path)).body.items[0];
    await api.work(unfiltered, id);
    const later = await api.deliver(trigger);
    const requests = Array.from({ length: rebuilds }, (_, index) => ({
      ...buildRequest(api.acme.pipeline.id),
      deliveryId: id,
      rebuild: index + 1,
    }));
    for (let from = 0; from < rebuilds; from += 100)
      await db.transaction((tx) =>
        createBuilds(tx, api.world.services, requests.slice(from, from + 100), clock.now()),
      );
    await db.transaction(async (tx) => {
      const { builds } = tx.tables;
      await tx.delete(builds).where(and(eq(builds.deliveryId, id), lt(builds.rebuild, purged)));
    });

    const { items } = (await api.send("GET", path)).body;

    assert.deepEqual((await waiting()).builds, []);
    assert.deepEqual(
      items.map((item: { id: string; builds: unknown[] }) => [item.id, item.builds.length]),
      [
        [later, 0],
        [id, rebuilds - purged + 1],
        [unfiltered, 1],
      ],
    );
    const numbers = items[1].builds.map(({ number }: { number: number }) => number);
    assert.deepEqual(
      numbers,
      Array.from(numbers, (_, index) => purged + 2 + index),
    );
    const again = await api.send("POST", `${path}/${id}/rebuild`);
    assert.deepEqual([again.status, again.body.builds.length], [201, numbers.length + 1]);
  });
});
