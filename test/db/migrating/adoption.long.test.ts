import assert from "node:assert/strict";
import { once } from "node:events";
import { it } from "node:test";
import { migrate } from "../../../shared/db/migrate.ts";
import { versionBefore } from "../../../shared/db/migrating/adoption.ts";
import { describeOnBothDatabases } from "../../helpers/databases.ts";
import { run } from "../../helpers/processes.ts";
import { checkOut, isInHistory } from "../../upgrades/releases.ts";
import { query, readCatalog } from "./catalog.ts";

const skip = isInHistory(versionBefore) ? false : `${versionBefore} is not in this clone`;

describeOnBothDatabases("a database of the version before 1.0.0", (database) => {
  it("is adopted, without its secrets of the first form", { skip }, async () => {
    const { url, drop } = await database.createEmpty();
    const migrating = run(["scripts/migrate.ts"], { DATABASE_URL: url }, "", checkOut(versionBefore));
    const [code] = await once(migrating.process, "exit");
    assert.equal(code, 0, migrating.output());
    await addRows(url, database.dialect === "sqlite");

    await assert.rejects(migrate(url), (error: Error) => {
      assert.match(
        error.message,
        new RegExp(`Check out ${versionBefore}, run npm run -s admin -- secrets reseal`),
      );
      return true;
    });
    await query(url, "UPDATE builds SET environment_sealed = 'v2.a.b.c.key:00000000'");
    const said: string[] = [];
    await migrate(url, (line) => said.push(line));
    assert.ok(said.includes("  jobs: 1 rows filled"), said.join("\n"));

    const fresh = await database.create();
    assert.deepEqual(await readCatalog(url), await readCatalog(fresh.url));
    assert.deepEqual(await query(url, "SELECT command, exit_status FROM jobs ORDER BY id"), [
      { command: "make", exit_status: typed(3) },
      { command: null, exit_status: typed(3_221_225_786) },
    ]);
    assert.deepEqual(await query(url, "SELECT kind FROM tasks ORDER BY kind"), [
      { kind: "branch" },
      { kind: "pause" },
    ]);
    const [delivery] = await query(url, "SELECT organization_id IS NOT NULL AS is_owned FROM deliveries");
    assert.ok(delivery?.is_owned);
    await migrate(url);
    await Promise.all([drop(), fresh.drop()]);
  });

  it("is refused, if it is older", { skip }, async () => {
    const { url, drop } = await database.create();
    await query(url, "UPDATE schema_migrations SET created_at = 1");

    await assert.rejects(
      migrate(url),
      new RegExp(`before 1.0.0. Check out ${versionBefore}, run npm run migrate`),
    );

    await drop();
  });

  /** Postgres returns 64 bits as text. */
  const typed = (status: number) => (database.dialect === "sqlite" ? status : String(status));
});

/** Adds a build of two jobs, and a delivery that waits, in former forms. */
async function addRows(url: string, isSqlite: boolean): Promise<void> {
  const id = (kind: number) => `'00000000-0000-7000-8000-${String(kind).padStart(12, "0")}'`;
  const [at, yes] = isSqlite ? ["1790000000000", "1"] : ["to_timestamp(1790000000)", "true"];
  const referring = "echo This job needs a newer version of the server && exit 1";
  await query(
    url,
    `INSERT INTO organizations (id, slug, name, deliveries_per_hour, features, created_at)
       VALUES (${id(1)}, 'acme', 'Acme', 300, '[]', ${at});
     INSERT INTO users (id, email, name, created_at) VALUES (${id(2)}, 'ann@example.com', 'Ann', ${at});
     INSERT INTO clusters (id, organization_id, name, created_at, created_by_id, queue_count)
       VALUES (${id(3)}, ${id(1)}, 'Main', ${at}, ${id(2)}, 1);
     INSERT INTO queues (id, cluster_id, key, retry_agent_affinity, created_at, created_by_id)
       VALUES (${id(4)}, ${id(3)}, 'default', 'prefer-warmest', ${at}, ${id(2)});
     INSERT INTO pipelines (id, organization_id, cluster_id, slug, name, default_branch, steps, last_build_number, created_at, created_by_id)
       VALUES (${id(5)}, ${id(1)}, ${id(3)}, 'web', 'Web', 'main', '[]', 1, ${at}, ${id(2)});
     INSERT INTO triggers (id, pipeline_id, type, label, enabled, version, token_hash, token_hint, created_at, created_by_id, updated_at, updated_by_id)
       VALUES (${id(6)}, ${id(5)}, 'linear', 'Main', ${yes}, 1, 'hash', 'hint', ${at}, ${id(2)}, ${at}, ${id(2)});
     INSERT INTO deliveries (id, trigger_id, received_at, content_type, size, enqueued_at)
       VALUES (${id(7)}, ${id(6)}, ${at}, 'application/json', 2, ${at});
     INSERT INTO builds (id, organization_id, pipeline_id, number, state, message, "commit", branch, environment, environment_sealed, source, created_at)
       VALUES (${id(8)}, ${id(1)}, ${id(5)}, 1, 'failed', '', 'HEAD', 'main', '{}', 'v1.a.b.c.key:00000000', 'api', ${at});
     INSERT INTO jobs (id, build_id, queue_id, step_id, position, command, state, exit_status, wide_exit_status, created_at)
       VALUES (${id(9)}, ${id(8)}, ${id(4)}, ${id(9)}, 0, 'make', 'failed', 3, NULL, ${at}),
         (${id(10)}, ${id(8)}, ${id(4)}, ${id(9)}, 0, '${referring}', 'failed', 2147483647, 3221225786, ${at});
     INSERT INTO follow_ups (id, kind, subject_id, created_at) VALUES (${id(11)}, 'branch', ${id(8)}, ${at});`,
  );
}
