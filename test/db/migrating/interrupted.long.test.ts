import assert from "node:assert/strict";
import { once } from "node:events";
import { it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { migrate } from "../../../shared/db/migrate.ts";
import { describeOnBothDatabases } from "../../helpers/databases.ts";
import { run } from "../../helpers/processes.ts";
import { query, readCatalog } from "./catalog.ts";
import { addTasks, withNext } from "./next.ts";

/** Returns true once a run has recorded the migration. */
async function migrateAndKill(url: string, attempt: number): Promise<boolean> {
  const migrating = run(["test/db/migrating/next.ts"], { DATABASE_URL: url });
  const exit = once(migrating.process, "exit");
  if (migrating.process.stdout) await Promise.race([once(migrating.process.stdout, "data"), exit]);
  await Promise.race([sleep(attempt * 60), exit]);
  await migrating.kill();
  const recorded = await query(
    url,
    "SELECT id FROM schema_migrations WHERE hash = 'next' AND created_at > 0",
  );
  return recorded.length > 0;
}

describeOnBothDatabases("migrating that is killed", (database) => {
  it("is completed by later runs, and the former version writes meanwhile", async (context) => {
    const { url, drop } = await database.create();
    await addTasks(url, 20_000);

    let kills = 0;
    while (!(await migrateAndKill(url, kills))) {
      kills++;
      await addTasks(url, 10, 100_000 + kills * 100);
    }

    context.diagnostic(`${kills} kills`);
    assert.ok(kills > 2, `${kills} kills`);
    const expected = await database.create();
    await migrate(expected.url, () => {}, withNext(expected.url));
    assert.deepEqual(await readCatalog(url), await readCatalog(expected.url));
    const unfilled = await query(
      url,
      "SELECT id FROM tasks WHERE attempts <> failures + 1 OR attempts IS NULL",
    );
    assert.deepEqual(unfilled, []);
    await drop();
    await expected.drop();
  });
});
