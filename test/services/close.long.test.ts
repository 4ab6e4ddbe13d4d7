import assert from "node:assert/strict";
import { it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createLog } from "../../shared/services/log.ts";
import { openServices } from "../../shared/services/services.ts";
import { describeOnSqlite } from "../helpers/databases.ts";
import { startWorld } from "../helpers/world.ts";

const hang = () => new Promise<void>(() => {});

describeOnSqlite("services that are closed while some of them hang", (database) => {
  const open = async () => {
    const world = await startWorld(database, { SHUTDOWN_SECONDS: "1" });
    const logged: string[] = [];
    const log = createLog({ level: "warn", process: "test" }, { write: (line) => void logged.push(line) });
    const services = openServices({ config: world.config, log, clock: world.clock });
    const unfinished = () => {
      const [line = ""] = logged.filter((each) => each.includes("stops without closing"));
      return JSON.parse(line).unfinished;
    };
    return { world, services, unfinished };
  };

  it("end in time, and say what they left", async (t) => {
    const { world, services, unfinished } = await open();
    const { mock: ofQueues } = t.mock.method(services.jobs, "close", hang);
    const { mock: ofDatabase } = t.mock.method(services.db, "close", hang);

    const closed = await Promise.race([services.close().then(() => true), sleep(20_000, false)]);

    assert.ok(closed);
    assert.deepEqual(unfinished(), ["work queues", "database"]);
    ofQueues.restore();
    ofDatabase.restore();
    await services.jobs.close();
    await services.db.close();
    await world.close();
  });

  it("close the database, though others took all the time", async (t) => {
    const { world, services, unfinished } = await open();
    const { mock: ofQueues } = t.mock.method(services.jobs, "close", hang);
    const close = services.db.close;
    t.mock.method(services.db, "close", () => sleep(100).then(close));

    await services.close();

    assert.deepEqual(unfinished(), ["work queues"]);
    ofQueues.restore();
    await services.jobs.close();
    await world.close();
  });
});
