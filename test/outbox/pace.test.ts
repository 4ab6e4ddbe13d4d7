import assert from "node:assert/strict";
import { it } from "node:test";
import { openPace } from "../../shared/outbox/pace.ts";
import { describeWorld } from "../helpers/databases.ts";
import { startWorld } from "../helpers/world.ts";

const busyMs = 15;

/** As long as another process would wait for SQLite's lock. */
function work(): void {
  for (const startedAt = performance.now(); performance.now() < startedAt + busyMs; );
}

describeWorld("transactions of those who send", startWorld, (world) => {
  it("are followed by a rest of their organization, which holds up no other", async () => {
    const paced = openPace(world.services.db);
    const startedAt = async (organizationId: string) => paced(organizationId, async () => performance.now());

    await paced("busy", async () => work());
    const endedAt = performance.now();
    const [again, other] = await Promise.all([startedAt("busy"), startedAt("other")]);

    assert.ok(again - endedAt >= busyMs, `it began ${again - endedAt} ms later`);
    assert.ok(other < again);
  });
});
