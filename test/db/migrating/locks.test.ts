import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { Client } from "pg";
import { DatabaseUnavailable } from "../../../shared/db/database.ts";
import { migrate } from "../../../shared/db/migrate.ts";
import { withShortLocks } from "../../../shared/db/migrating/postgres-locks.ts";
import { openDatabase } from "../../../shared/db/open.ts";
import { postgres, skipPostgres } from "../../helpers/databases.ts";
import { eventually } from "../../helpers/http.ts";
import { query } from "./catalog.ts";
import { addTasks, withNext } from "./next.ts";

describe("migrating Postgres beside transactions", { skip: skipPostgres }, () => {
  let url: string;
  let drop: () => Promise<void>;
  let client: Client;

  before(async () => {
    ({ url, drop } = await postgres.create());
    await addTasks(url, 100);
    client = new Client({ connectionString: url, application_name: "a long transaction" });
    await client.connect();
  });
  after(async () => {
    await client.end();
    await drop();
  });

  const assertGivesUp = (migrating: Client, reason: RegExp) =>
    assert.rejects(
      withShortLocks(migrating, { tables: ["tasks"], report: () => {}, patience: 0 }, async () => {
        await migrating.query("LOCK TABLE tasks IN ACCESS EXCLUSIVE MODE");
      }),
      reason,
    );

  it("gives way to a transaction that locks the same tables in another order, and names it", async () => {
    const lines: string[] = [];
    await client.query("BEGIN");
    await client.query("UPDATE tasks SET failures = 0");

    let sawWaiting = () => {};
    const waiting = new Promise<void>((resolve) => {
      sawWaiting = resolve;
    });
    const migrating = migrate(
      url,
      (line) => {
        lines.push(line);
        if (line.includes("in use by")) sawWaiting();
      },
      withNext(url),
    );
    await waiting;
    // The migration has locked settings before tasks.
    await client.query("UPDATE settings SET value = value");
    await client.query("COMMIT");
    await migrating;

    assert.match(lines.join("\n"), /tasks: in use by process \d+ \(a long transaction, /);
    assert.match(lines.at(-1) ?? "", /^0001_next: done/);
  });

  it("says who keeps a table locked when it gives up", async () => {
    const other = new Client({ connectionString: url });
    await other.connect();
    await client.query("BEGIN");
    await client.query("LOCK TABLE tasks IN ROW EXCLUSIVE MODE");

    await assertGivesUp(
      other,
      /tasks: in use by process \d+ \(a long transaction, idle in transaction, for \d+ s\)/,
    );

    await client.query("ROLLBACK");
    await other.end();
  });

  it("waits for a vacuum while others read and write, and past deadlock_timeout, which cancels an automatic one", async () => {
    const other = new Client({ connectionString: url, application_name: "migrating" });
    await other.connect();
    await client.query("BEGIN");
    await client.query("LOCK TABLE tasks IN SHARE UPDATE EXCLUSIVE MODE"); // as VACUUM does

    const lines: string[] = [];
    const migrating = withShortLocks(
      other,
      { tables: ["tasks"], report: (line) => lines.push(line) },
      async () => {},
    );
    await eventually("a wait past deadlock_timeout", async () => {
      const [waiting] = await query(
        url,
        `SELECT mode FROM pg_locks JOIN pg_stat_activity USING (pid)
         WHERE application_name = 'migrating' AND NOT granted
           AND clock_timestamp() - waitstart > current_setting('deadlock_timeout')::interval`,
      );
      return waiting?.mode === "ShareUpdateExclusiveLock";
    });
    await query(url, "SET lock_timeout = 1; UPDATE tasks SET failures = 1");
    await client.query("ROLLBACK");
    await migrating;

    assert.deepEqual(lines, []);
    await other.end();
  });

  it("names a process of a user whose activity it may not see", async () => {
    const role = `migrator_${randomBytes(8).toString("hex")}`;
    const other = new Client({ connectionString: url });
    await other.connect();
    await other.query(`CREATE ROLE ${role}; GRANT ALL ON tasks TO ${role}; SET ROLE ${role}`);
    await client.query("BEGIN");
    await client.query("LOCK TABLE tasks IN ROW EXCLUSIVE MODE");

    await assertGivesUp(other, /tasks: in use by process \d+ \(of another user\)/);

    await client.query("ROLLBACK");
    await other.query(`RESET ROLE; DROP OWNED BY ${role}; DROP ROLE ${role}`);
    await other.end();
  });

  it("builds an index again whose building was ended", async () => {
    const other = await postgres.create();
    await query(other.url, "CREATE INDEX tasks_attempts ON tasks (failures)");
    await query(
      other.url,
      "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'tasks_attempts'::regclass",
    );

    await migrate(other.url, () => {}, withNext(other.url));

    const [found] = await query(
      other.url,
      "SELECT indisvalid, indnatts FROM pg_index WHERE indexrelid = 'tasks_attempts'::regclass",
    );
    assert.deepEqual(found, { indisvalid: true, indnatts: 2 });
    await other.drop();
  });

  it("is not answered 500: a deadlock, a lost lock and a serialization failure are a database unavailable", async () => {
    const db = openDatabase({ url, poolSize: 2, timeoutMs: 1000, onError: () => {} });
    for (const code of ["40P01", "55P03", "40001"]) {
      await assert.rejects(
        db.transaction(async () => {
          throw Object.assign(
            new Error("Failed query", { cause: Object.assign(new Error("lost"), { code }) }),
          );
        }),
        DatabaseUnavailable,
      );
    }
    await db.close();
  });
});
