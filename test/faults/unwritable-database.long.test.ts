import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { Client } from "pg";
import { freePort } from "../../scripts/scratch/ports.ts";
import { visitor } from "../../scripts/scratch/visitor.ts";
import { openWriteHealth } from "../../shared/db/health/writes.ts";
import { openDatabase, sqliteFile } from "../../shared/db/open.ts";
import { backUpSqlite } from "../../shared/db/sqlite/backup.ts";
import { testClock } from "../helpers/clock.ts";
import { describeOnBothDatabases, postgres, skipPostgres, sqlite } from "../helpers/databases.ts";
import { type Disk, mountDisk, straceMissing, trace } from "../helpers/disk/faults.ts";
import { eventually, post, request } from "../helpers/http.ts";
import { setUpOrganization } from "../helpers/organization.ts";
import { secretKey, settingsOf, startWorld, type World } from "../helpers/world.ts";
import { runOperator } from "../scripts/operator.ts";

const folder = mkdtempSync(join(tmpdir(), "signalbox-unwritable-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const large = JSON.stringify("x".repeat(100_000));

async function findings(world: World): Promise<string[]> {
  const env = { PUBLIC_URL: world.url, PORT: new URL(world.url).port };
  const { stdout, stderr } = await runOperator(world, ["doctor"], { env });
  assert.equal(stderr, "");
  const { findings: found } = JSON.parse(stdout) as { findings: Record<string, string>[] };
  return found.map(({ check, state, found }) => `${check}: ${state}: ${found}`);
}

describe("GET /readyz and doctor, with a database that cannot be written", () => {
  const onDisk = async (name: string, run: (world: World, disk: Disk, file: string) => Promise<void>) => {
    const place = join(folder, name);
    const disk = mountDisk(place, 24);
    if (!disk) return false;
    const file = join(place, "box.db");
    const create = async () => {
      const { url, drop } = await sqlite.create();
      copyFileSync(sqliteFile(url), file);
      await drop();
      return { url: `file:${file}`, drop: async () => {} };
    };
    const world = await startWorld({ ...sqlite, create });
    try {
      await run(world, disk, file);
    } finally {
      await world.close();
      disk.unmount();
    }
    return true;
  };

  it("name a full disk, and are well again with the first write", async (t) => {
    const isRun = await onDisk("full", async (world, disk, file) => {
      const acme = await setUpOrganization(world);
      const { path } = await acme.trigger();
      const ada = visitor(world.url);
      await ada.signIn(acme.user.email);
      disk.fill();
      const refused = await eventually("a refusal", async () => {
        const answer = await post(world.url + path, large);
        return answer.status !== 201 && answer;
      });
      const full = await request(`${world.url}/readyz`);
      const page = await ada.get("/user/password");
      const isSaid = await findings(world);
      disk.free();
      const accepted = await post(world.url + path, large);
      const well = await request(`${world.url}/readyz`);

      assert.equal(refused.status, 503);
      assert.equal(full.status, 503);
      assert.equal(full.body.message, `The disk of ${file} is full: make room there`);
      assert.deepEqual(full.body.parts, { database: "full", migrations: "ok", redis: "ok" });
      assert.match(page.text, /Nothing can be saved at the moment/);
      assert.ok(
        isSaid.some((each) => each.startsWith(`database: problem: The disk of ${file} is full (`)),
        isSaid.join("\n"),
      );
      assert.ok(
        isSaid.some((each) => each.startsWith("port: ok")),
        isSaid.join("\n"),
      );
      assert.deepEqual([accepted.status, well.status, well.body.status], [201, 200, "ok"]);
    });
    if (!isRun) t.skip("a small disk cannot be mounted");
  });

  it("name a file system that the kernel made read-only", async (t) => {
    const isRun = await onDisk("read-only", async (world, disk, file) => {
      const { path } = await (await setUpOrganization(world)).trigger();
      disk.breakFileSystem();
      const refused = await post(world.url + path, large);
      const { status, body } = await request(`${world.url}/readyz`);
      const isSaid = await findings(world);

      assert.deepEqual([refused.status, status], [503, 503]);
      assert.match(body.message, /^The file system of \S+ is read-only: .*mount it for writing$/);
      assert.equal(body.parts.database, "read-only");
      assert.ok(
        isSaid.some((each) =>
          each.startsWith(`database: problem: The file system of ${file} is read-only (`),
        ),
        isSaid.join("\n"),
      );
      assert.ok(isSaid.some((each) => each.startsWith("Redis: ok")));
    });
    if (!isRun) t.skip("a small disk cannot be mounted");
  });

  it("name a Postgres that is read-only", { skip: skipPostgres }, async () => {
    const world = await startWorld(postgres);
    const { path } = await (await setUpOrganization(world)).trigger();
    const admin = new Client({ connectionString: process.env.TEST_DATABASE_URL });
    await admin.connect();
    const name = new URL(world.config.databaseUrl).pathname.slice(1);
    const setReadOnly = async (value: "on" | "off") => {
      await admin.query(`alter database ${name} set default_transaction_read_only = ${value}`);
      await admin.query("select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", [name]);
    };

    await setReadOnly("on");
    const refused = await post(world.url + path, "{}");
    world.clock.advance(5000);
    const readOnly = await eventually("the state", async () => {
      const answer = await request(`${world.url}/readyz`);
      world.clock.advance(5000);
      return answer.body.parts.database === "read-only" && answer;
    });
    const isSaid = await findings(world);
    await setReadOnly("off");
    await admin.end();
    await eventually("the recovery", async () => {
      world.clock.advance(5000);
      return (await request(`${world.url}/readyz`)).status === 200;
    });

    assert.equal(refused.status, 503);
    assert.equal(readOnly.status, 503);
    assert.match(readOnly.body.message, /^Postgres is read-only: point DATABASE_URL to the primary/);
    assert.ok(
      isSaid.some((each) => each.startsWith("database: problem: Postgres is read-only (")),
      isSaid.join("\n"),
    );
    assert.ok(isSaid.some((each) => each.startsWith("Redis: ok")));
    await world.close();
  });

  it("are of a process that ends, if a sync failed; the next start copies the database", {
    skip: straceMissing,
  }, async () => {
    const world = await startWorld(sqlite);
    const { path } = await (await setUpOrganization(world)).trigger();
    const file = join(folder, "unsynced.db");
    await backUpSqlite(sqliteFile(world.config.databaseUrl), file, () => {});
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const env = {
      HOST: "127.0.0.1",
      PORT: String(port),
      SECRET_KEY: secretKey,
      ...settingsOf(world),
      DATABASE_URL: `file:${file}`,
      DRAIN_SECONDS: "5",
    };
    const start = (...options: string[]) => trace(["ingress/main.ts"], options, { env });
    const isUp = () => request(`${url}/healthz`).then(Boolean, () => false);

    const failing = start("-e", "inject=fdatasync:error=EIO");
    await eventually("an ingress", isUp);
    const refused = await post(url + path, "{}");
    const { status, body } = await request(`${url}/readyz`);
    await failing.ended;
    const next = start();
    await eventually("an ingress", isUp);
    const accepted = await post(url + path, "{}");
    await next.kill("SIGTERM");

    assert.deepEqual([refused.status, status, accepted.status], [503, 503, 201]);
    assert.equal(body.message, "This process is stopping");
    assert.match(failing.output(), /^ingress: A sync of \S+ failed/m);
    assert.match(next.output(), /the database was copied, because a sync of it had failed/);
    await world.close();
  });
});

describeOnBothDatabases("The health of writes", (database) => {
  it("is tried at most once in 5 seconds, and not beside other writes", async () => {
    const { url, drop } = await database.create();
    const clock = testClock();
    const health = openWriteHealth({ databaseUrl: url, clock });
    const db = openDatabase({
      url,
      clock,
      poolSize: 2,
      timeoutMs: 5000,
      onError: () => {},
      onWrite: health.record,
    });
    let writes = 0;
    const counted: typeof db = {
      ...db,
      transaction(work) {
        writes++;
        return db.transaction(work);
      },
    };
    const ask = () => Promise.all(Array.from({ length: 20 }, () => health.check(counted)));

    await ask();
    await ask();
    assert.equal(writes, 1);
    assert.equal(health.isWritable(), true);

    clock.advance(5000);
    await ask();
    assert.equal(writes, 2);

    clock.advance(4000);
    await db.transaction((tx) => tx.insert(tx.tables.settings).values({ name: "other", value: "" }));
    clock.advance(4000);
    await ask();
    assert.equal(writes, 2);

    clock.advance(5000);
    await db.transaction((tx) => tx.select().from(tx.tables.settings));
    await ask();
    assert.equal(writes, 3, "a transaction that writes nothing shows nothing");
    await db.close();
    await drop();
  });
});
