import assert from "node:assert/strict";
import { it } from "node:test";
import { openPace } from "../../shared/outbox/pace.ts";
import { block } from "../helpers/clock.ts";
import { describeWorld } from "../helpers/databases.ts";
import { startWorld } from "../helpers/world.ts";

/** As long as another process would wait for SQLite's lock. */
const busyMs = 15;

describeWorld("transactions of those who send", startWorld, (world) => {
  it("are followed by a rest of their organization, which holds up no other", async () => {
    const paced = openPace(world.services.db);
    const startedAt = async (organizationId: string) => paced(organizationId, async () => performance.now());

    await paced("busy", async () => block(busyMs));
    const endedAt = performance.now();
    const [again, other] = await Promise.all([startedAt("busy"), startedAt("other")]);

    assert.ok(again - endedAt >= busyMs, `it began ${again - endedAt} ms later`);
    assert.ok(other < again);
  });
});
