import assert from "node:assert/strict";
import { it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { startWorkers } from "../../workers/run.ts";
import { describeOnSqlite } from "../helpers/databases.ts";
import { post } from "../helpers/http.ts";
import { setUpOrganization } from "../helpers/organization.ts";
import { holdTransactions, startWorld } from "../helpers/world.ts";

describeOnSqlite("a worker that is stopped while its work hangs", (database) => {
  it("ends in time, and says what it left", async () => {
    const world = await startWorld(database, { SHUTDOWN_SECONDS: "1" });
    const { services } = world;
    const { path } = await (await setUpOrganization(world)).trigger();
    const { transaction, begun, release } = holdTransactions(services);
    const workers = await startWorkers({ ...services, db: { ...services.db, transaction } }, ["deliveries"]);
    assert.equal((await post(world.url + path, "{}")).status, 201);
    await begun;

    const stopped = await Promise.race([workers.close().then(() => true), sleep(10_000, false)]);

    assert.ok(stopped);
    const [line = ""] = world.logged.filter((each) => each.includes("stops in the middle"));
    assert.deepEqual(JSON.parse(line).unfinished, ["deliveries"]);
    release();
    await world.close();
  });
});
