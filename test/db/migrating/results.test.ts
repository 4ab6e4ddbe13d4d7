import assert from "node:assert/strict";
import { it } from "node:test";
import { migrate } from "../../../shared/db/migrate.ts";
import { describeOnBothDatabases, type TestDatabase } from "../../helpers/databases.ts";
import { readCatalog, readResults } from "./catalog.ts";
import { migrateWithDrizzle, ofFirstRelease } from "./drizzle.ts";
import { addHistory } from "./history.ts";

async function onEmpty(database: TestDatabase, work: (url: string) => Promise<void>) {
  const { url, drop } = await database.createEmpty();
  try {
    await work(url);
    return { catalog: await readCatalog(url), results: await readResults(url) };
  } finally {
    await drop();
  }
}

describeOnBothDatabases("the results of migrating", (database) => {
  it("are those of drizzle's migrator in an empty database", async () => {
    const expected = await onEmpty(database, (url) => migrateWithDrizzle(url));

    const found = await onEmpty(database, (url) => migrate(url));

    assert.deepEqual(found, expected);
  });

  it("are those of drizzle's migrator in a database of the first release", async () => {
    const prepare = async (url: string) => {
      await migrateWithDrizzle(url, ofFirstRelease);
      await addHistory(url, 2500);
    };
    const expected = await onEmpty(database, async (url) => {
      await prepare(url);
      await migrateWithDrizzle(url);
    });

    const found = await onEmpty(database, async (url) => {
      await prepare(url);
      await migrate(url);
    });

    assert.deepEqual(found, expected);
  });

  it("are nothing more when drizzle's migrator or the runner is run again", async () => {
    const once = await onEmpty(database, (url) => migrate(url));

    const again = await onEmpty(database, async (url) => {
      await migrate(url);
      await migrateWithDrizzle(url);
      await migrate(url);
    });

    assert.deepEqual(again, once);
  });
});
