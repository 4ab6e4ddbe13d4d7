import assert from "node:assert/strict";
import { closeSync, openSync, writeFileSync, writeSync } from "node:fs";
import { describe, it } from "node:test";
import Client from "better-sqlite3";
import { migrate } from "../../../shared/db/migrate.ts";
import { sqliteFile } from "../../../shared/db/open.ts";
import { sqlite } from "../../helpers/databases.ts";
import { eventually, request } from "../../helpers/http.ts";
import { setUpOrganization } from "../../helpers/organization.ts";
import { run } from "../../helpers/processes.ts";
import { startWorld, type World } from "../../helpers/world.ts";

/** Overwrites the first page of a table, which only statements on that table read. */
function damage(file: string, table: string): void {
  const client = new Client(file);
  client.pragma("wal_checkpoint(TRUNCATE)");
  const page = client
    .prepare("SELECT rootpage FROM sqlite_schema WHERE name = ?")
    .pluck()
    .get(table) as number;
  const size = client.pragma("page_size", { simple: true }) as number;
  client.close();
  const descriptor = openSync(file, "r+");
  writeSync(descriptor, Buffer.alloc(size, 0xff), 0, size, (page - 1) * size);
  closeSync(descriptor);
}

describe("a damaged SQLite file", () => {
  const startOnDamaged = async (): Promise<{ world: World; token: string; file: string }> => {
    const { url, drop } = await sqlite.create();
    const create = async () => ({ url, drop: async () => {} });
    const before = await startWorld({ ...sqlite, create });
    const token = await (await setUpOrganization(before)).token("read_pipelines");
    await before.close();
    damage(sqliteFile(url), "pipelines");
    return {
      world: await startWorld({ ...sqlite, create: async () => ({ url, drop }) }),
      token,
      file: sqliteFile(url),
    };
  };

  it("is 503 with Retry-After, and so is /readyz once a page has failed", async () => {
    const { world, token, file } = await startOnDamaged();
    const before = await request(`${world.url}/readyz`);

    const headers = { authorization: `Bearer ${token}` };
    const answer = await request(`${world.url}/v2/organizations/acme/pipelines`, { headers });
    const { status, body } = await request(`${world.url}/readyz`);
    await world.close();

    assert.equal(before.status, 200);
    assert.deepEqual([answer.status, answer.headers.get("retry-after")], [503, "5"]);
    assert.deepEqual([status, body.parts.database], [503, "damaged"]);
    assert.ok(body.message.startsWith(`${file} is damaged, or no SQLite database: stop the processes`));
  });

  it("that is none ends processes with 78, and a migration with the remedy", async () => {
    const { url, drop } = await sqlite.createEmpty();
    writeFileSync(sqliteFile(url), "no database at all ".repeat(1000));

    const worker = run(["workers/main.ts"], {
      DATABASE_URL: url,
      REDIS_URL: process.env.TEST_REDIS_URL ?? "",
    });
    await eventually("its end", async () => worker.process.exitCode !== null);
    const migrated = await migrate(url).catch(String);
    await drop();

    assert.equal(worker.process.exitCode, 78);
    assert.match(worker.output(), /is damaged, or no SQLite database \(file is not a database\): stop the/);
    assert.match(String(migrated), /is damaged, or no SQLite database: stop the processes.*--replace/);
  });
});
