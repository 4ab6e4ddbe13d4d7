import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { after, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import Client from "better-sqlite3";
import { runAdmin } from "../../scripts/admin/run.ts";
import { openBlobs } from "../../shared/blobs/open.ts";
import { openSyncMark } from "../../shared/db/sqlite/sync-mark.ts";
import { chunks, expect, newName } from "../blobs/contract.ts";
import { sqlite } from "../helpers/databases.ts";
import { eventually, post } from "../helpers/http.ts";
import { startLoad } from "../helpers/load.ts";
import { setUpOrganization } from "../helpers/organization.ts";
import { run, runIngress } from "../helpers/processes.ts";
import { secretKey, startWorld } from "../helpers/world.ts";

const folder = mkdtempSync(join(tmpdir(), "signalbox-backup-"));
const fileOf = (url: string) => url.slice("file:".length);

/** Arguments, and settings among them. */
type Argument = string | Record<string, string>;

async function admin(url: string, ...given: Argument[]) {
  let [stdout, stderr] = ["", ""];
  const args = given.filter((each) => typeof each === "string");
  const settings = Object.assign({}, ...given.filter((each) => typeof each === "object"));
  const code = await runAdmin(args, {
    env: { SECRET_KEY: secretKey, DATABASE_URL: url, ...settings },
    stdin: Readable.from([]),
    write: (text) => (stdout += text),
    writeError: (text) => (stderr += text),
  });
  return { code, stdout, stderr };
}

async function succeeds(url: string, ...args: Argument[]) {
  const { code, stdout, stderr } = await admin(url, ...args);
  assert.deepEqual([code, stderr], [0, ""]);
  return JSON.parse(stdout);
}

async function refuses(message: RegExp, url: string, ...args: Argument[]) {
  const { code, stdout, stderr } = await admin(url, ...args);
  assert.deepEqual([code, stdout], [1, ""], args.join(" "));
  assert.match(stderr, /^[^\n]+\n$/);
  assert.match(stderr, message);
}

/** A migrated database with one organization, and a payload's bytes beside it. */
async function makeDatabase(slug: string, megabytes = 0) {
  const { url, drop } = await sqlite.create();
  await succeeds(url, "org", "create", "--slug", slug, "--name", slug);
  const client = new Client(fileOf(url));
  client.pragma("foreign_keys = OFF");
  const insert = client.prepare("INSERT INTO settings (name, value) VALUES (?, ?)");
  for (let each = 0; each < megabytes; each++)
    insert.run(`filler ${each}`, randomBytes(512 * 1024).toString("hex"));
  client.close();
  return { url, file: fileOf(url), drop };
}

/** Also sees damage. */
function readState(file: string) {
  const client = new Client(file);
  const integrity = client.pragma("integrity_check", { simple: true });
  const slugs = client.prepare("SELECT slug FROM organizations").pluck().all();
  const fillers = client.prepare("SELECT count(*) FROM settings WHERE name LIKE 'filler%'").pluck().get();
  client.close();
  return { integrity, slugs, fillers };
}

after(() => rmSync(folder, { recursive: true, force: true }));

describe("admin backup and restore", () => {
  it("keep every webhook that was answered before, while more arrive from two processes", async () => {
    const world = await startWorld(sqlite);
    const { path } = await (await setUpOrganization(world)).trigger();
    const settings = { DATABASE_URL: world.config.databaseUrl, REDIS_URL: world.config.redisUrl };
    const second = await runIngress({ ...settings, REDIS_PREFIX: world.config.redisPrefix });
    const urls = [world.url + path, second.url + path];
    const load = startLoad(urls, { senders: 10, most: 20_000, pauseMs: 20 });
    await eventually("deliveries", async () => load.accepted.length > 200);
    const before = [...load.accepted];

    const file = join(folder, "loaded");
    const made = run(["scripts/admin.ts", "backup", file], settings);
    const [code] = await once(made.process, "exit");
    const during = load.accepted.length - before.length;
    await load.stop();
    await second.kill("SIGTERM");
    const target = join(folder, "new", "restored.db");
    await succeeds(`file:${target}`, "restore", file);

    assert.equal(code, 0, made.output());
    assert.ok(during > 0);
    assert.deepEqual(load.others, []);
    assert.deepEqual([statSync(file).mode & 0o777, existsSync(`${file}-wal`)], [0o600, false]);
    const restored = await startWorld(sqlite, { DATABASE_URL: `file:${target}` });
    const { deliveries, payloads } = restored.services.db.tables;
    const ids = (await restored.services.db.select({ id: deliveries.id }).from(deliveries)).map(
      (row) => row.id,
    );
    const bodies = await restored.services.db.select().from(payloads);
    assert.deepEqual(
      before.filter((id) => !ids.includes(id)),
      [],
    );
    assert.equal(bodies.length, ids.length);
    assert.equal((await post(restored.url + path, "{}")).status, 201);
    await restored.close();
    await world.close();
  });

  it("copy artifacts into a folder and back, those that it lacks", async () => {
    const [source, target] = [await makeDatabase("acme"), await makeDatabase("acme")];
    const [store, copies, other] = ["store", "copies", "other"].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    const blobs = openBlobs(`file:${store}`);
    const names = [newName(), newName(), newName()];
    const write = (name: string) => blobs.write(name, chunks(Buffer.from(name)), expect(Buffer.from(name)));
    const backup = (file: string) =>
      succeeds(
        source.url,
        { BLOB_URL: `file:${store}` },
        "backup",
        join(folder, file),
        "--artifacts",
        copies,
      );
    for (const name of names.slice(1)) await write(name);

    const first = await backup("first");
    await write(names[0] ?? "");
    const second = await backup("second");
    const restored = await succeeds(
      target.url,
      { BLOB_URL: `file:${other}` },
      ...["restore", join(folder, "second"), "--replace", "--artifacts", copies],
    );
    const without = await succeeds(source.url, "backup", join(folder, "without"));

    const copied = ({ artifacts }: { artifacts: { blobs: number; copied: number } }) => [
      artifacts.blobs,
      artifacts.copied,
    ];
    assert.deepEqual([first, second, restored].map(copied), [
      [2, 2],
      [3, 1],
      [3, 3],
    ]);
    for (const name of names) assert.equal(readFileSync(join(other, name), "utf8"), name);
    assert.match(without.artifacts, /^not included: copy them with --artifacts/);
    await refuses(
      /is the store of artifacts itself/,
      source.url,
      {
        BLOB_URL: `file:${store}`,
      },
      ...["backup", join(folder, "third"), "--artifacts", store],
    );
    await source.drop();
    await target.drop();
  });

  it("refuse to overwrite, and what is no sound backup", async () => {
    const { url, file, drop } = await makeDatabase("kept", 1);
    const backup = join(folder, "kept");
    const key = join(folder, "key");
    const made = await succeeds(url, "backup", backup, "--secret-key", key);
    const bytes = readFileSync(backup);

    await refuses(/exists already/, url, "backup", backup);
    await refuses(/key exists already/, url, "backup", join(folder, "other"), "--secret-key", key);
    await refuses(/has organizations: add --replace/, url, "restore", backup);
    await refuses(/There is no file/, url, "restore", join(folder, "nothing"));
    await refuses(/is the database itself/, url, "restore", file);
    writeFileSync(join(folder, "text"), "no database\n".repeat(100));
    await refuses(/cannot be opened as a SQLite database/, url, "restore", join(folder, "text"), "--replace");
    const damaged = Buffer.from(bytes);
    damaged.fill(0xff, damaged.length / 2, damaged.length / 2 + 50_000);
    writeFileSync(join(folder, "damaged"), damaged);
    await refuses(/damaged/, url, "restore", join(folder, "damaged"), "--replace");
    const newer = new Client(join(folder, "newer"));
    newer.exec("CREATE TABLE schema_migrations (created_at); INSERT INTO schema_migrations VALUES (9e15)");
    newer.close();
    await refuses(/newer version/, url, "restore", join(folder, "newer"), "--replace");

    assert.deepEqual([made.file, made.bytes, made.secret_key], [backup, bytes.length, key]);
    assert.equal(readFileSync(key, "utf8"), `${secretKey}\n`);
    assert.deepEqual([statSync(key).mode & 0o777, bytes.equals(readFileSync(backup))], [0o600, true]);
    assert.deepEqual(readState(file), { integrity: "ok", slugs: ["kept"], fillers: 1 });
    drop();
  });

  it("set an unreadable database aside, and go on", async () => {
    const { url, drop } = await makeDatabase("whole", 1);
    const backup = join(folder, "whole");
    await succeeds(url, "backup", backup);
    const bytes = readFileSync(backup);
    const cut = Buffer.from(bytes.subarray(0, 5000));
    const holed = Buffer.from(bytes);
    holed.fill(0xff, 100, 20_000);
    const unreadable = { text: Buffer.from("no database\n".repeat(1000)), cut, holed };

    for (const [name, content] of Object.entries(unreadable)) {
      const place = mkdtempSync(join(folder, `${name}-`));
      const target = join(place, "box.db");
      writeFileSync(target, content);
      writeFileSync(`${target}-wal`, "of the former database");
      await refuses(/add --replace/, `file:${target}`, "restore", backup);
      assert.ok(content.equals(readFileSync(target)), name);
      const printed = await succeeds(`file:${target}`, "restore", backup, "--replace");

      assert.match(printed.set_aside, /box\.db\.unreadable-\d+$/, name);
      assert.ok(content.equals(readFileSync(printed.set_aside)), name);
      assert.deepEqual(readState(target), { integrity: "ok", slugs: ["whole"], fillers: 1 });
      assert.deepEqual(
        readdirSync(place).filter((each) => each.includes(".partial")),
        [],
      );
    }
    drop();
  });

  it("set a database aside of which a sync failed, as its content is not needed", async () => {
    const { url, drop } = await makeDatabase("acme");
    const backup = join(folder, "synced");
    await succeeds(url, "backup", backup);
    const file = join(folder, "unsynced", "box.db");
    await succeeds(`file:${file}`, "restore", backup);
    const mark = openSyncMark(file);
    mark.set();
    mark.close();

    await refuses(/a sync of it failed: add --replace/, `file:${file}`, "restore", backup);
    const printed = await succeeds(`file:${file}`, "restore", backup, "--replace");

    assert.match(printed.set_aside, /box\.db\.unreadable-\d+$/);
    assert.equal(readState(file).integrity, "ok");
    drop();
  });

  it("leave an unreadable database alone while a process uses it", async () => {
    const { url, drop } = await makeDatabase("used");
    const backup = join(folder, "used");
    await succeeds(url, "backup", backup);
    const world = await startWorld(sqlite);
    const file = fileOf(world.config.databaseUrl);
    await setUpOrganization(world);
    const second = await runIngress({
      DATABASE_URL: world.config.databaseUrl,
      REDIS_URL: world.config.redisUrl,
      REDIS_PREFIX: world.config.redisPrefix,
    });
    const before = readFileSync(file);
    const header = Buffer.alloc(100, "x");
    const descriptor = openSync(file, "r+");
    writeSync(descriptor, header, 0, header.length, 0);
    closeSync(descriptor);

    await refuses(/stop all of them/, world.config.databaseUrl, "restore", backup, "--replace");
    writeFileSync(file, before);
    await second.kill();
    await world.close();
    drop();
  });

  it("refuse a copy of another SECRET_KEY before anything is changed", async () => {
    const { url, file, drop } = await makeDatabase("kept");
    const other = await makeDatabase("other");
    const backup = join(folder, "of-another-key");
    await succeeds(other.url, "backup", backup);
    const before = readFileSync(file);
    const former = { SECRET_KEY: "another key of at least 32 characters" };

    await refuses(/SECRET_KEY is not the key that the copy's/, url, former, "restore", backup, "--replace");
    const unchanged = readFileSync(file);
    const target = join(folder, "never-made.db");
    await refuses(/SECRET_KEY is not the key/, `file:${target}`, former, "restore", backup);
    await succeeds(url, { ...former, SECRET_KEY_PREVIOUS: secretKey }, ...["restore", backup, "--replace"]);

    assert.ok(before.equals(unchanged));
    assert.equal(existsSync(target), false);
    assert.deepEqual(readState(file).slugs, ["other"]);
    drop();
    other.drop();
  });

  it("restores only while no process runs on the database", async () => {
    const former = await makeDatabase("former");
    const backup = join(folder, "former");
    await succeeds(former.url, "backup", backup);
    const world = await startWorld(sqlite);
    const { databaseUrl } = world.config;
    await setUpOrganization(world, "present");

    await refuses(/stop all of them/, databaseUrl, "restore", backup, "--replace");
    const stillThere = await succeeds(databaseUrl, "org", "list");
    const copy = join(folder, "present.db");
    await succeeds(databaseUrl, "backup", copy);
    await world.close();
    await succeeds(`file:${copy}`, "restore", backup, "--replace");

    assert.equal(stillThere.organizations[0].slug, "present");
    assert.deepEqual(readState(copy).slugs, ["former"]);
    await former.drop();
  });

  it("leaves the former content or all of the backup when a restore is killed", async () => {
    const former = await makeDatabase("former", 20);
    const latter = await makeDatabase("latter", 30);
    const formerBackup = join(folder, "former-20");
    await succeeds(former.url, "backup", formerBackup);
    const backup = join(folder, "latter");
    await succeeds(latter.url, "backup", backup);

    const outcomes = new Set<string>();
    for (const afterMs of [0, 5, 20, 50]) {
      const restore = run(["scripts/admin.ts", "restore", backup, "--replace"], { DATABASE_URL: former.url });
      await eventually(
        "the copy",
        async () => existsSync(`${former.file}-journal`) || restore.process.exitCode !== null,
      );
      await sleep(afterMs);
      await restore.kill();
      const { integrity, slugs, fillers } = readState(former.file);
      assert.equal(integrity, "ok");
      outcomes.add(`${slugs} ${fillers}`);
      await succeeds(former.url, "restore", formerBackup, "--replace");
    }
    await succeeds(former.url, "restore", backup, "--replace");

    for (const outcome of outcomes) assert.match(outcome, /^(former 20|latter 30)$/);
    assert.deepEqual(readState(former.file), { integrity: "ok", slugs: ["latter"], fillers: 30 });
    former.drop();
    latter.drop();
  });

  it("leaves nothing of a backup that is interrupted under its name", async () => {
    const { url, drop } = await makeDatabase("large", 30);
    const backup = join(folder, "interrupted");

    const making = run(["scripts/admin.ts", "backup", backup], { DATABASE_URL: url });
    await eventually("the draft", async () =>
      readdirSync(folder).some((name) => name.startsWith("interrupted")),
    );
    await making.kill();
    if (existsSync(backup)) rmSync(backup); // it was quicker
    const made = await succeeds(url, "backup", backup);

    assert.equal(made.bytes, statSync(backup).size);
    assert.equal(readState(backup).fillers, 30);
    drop();
  });
});

describe("admin backup and restore on a full disk", () => {
  const disk = join(folder, "disk");
  mkdirSync(disk);
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", "size=12m", "tmpfs", disk]);
  const skip = status !== 0 && "a small disk cannot be mounted";
  after(() => void spawnSync("umount", [disk]));

  it("say so and change nothing", { skip }, async () => {
    const large = await makeDatabase("large", 20);
    const small = await makeDatabase("small", 1);
    const target = join(disk, "small.db");
    await succeeds(small.url, "backup", target);

    await refuses(/cannot be written: .*full/, large.url, "backup", join(disk, "large"));
    const backup = join(folder, "too-large");
    await succeeds(large.url, "backup", backup);
    await refuses(/is as it was.*full/, `file:${target}`, "restore", backup, "--replace");
    await refuses(/full/, `file:${join(disk, "new.db")}`, "restore", backup);

    assert.deepEqual(readdirSync(disk), ["small.db", "small.db-sync"]);
    assert.deepEqual(readState(target), { integrity: "ok", slugs: ["small"], fillers: 1 });
    large.drop();
    small.drop();
  });
});

describe("admin backup and restore of Postgres", () => {
  const url = "postgres://box:pass word@db.example.com:5432/box?connect_timeout=5".replace(" ", "%20");

  it("print the command without the password", async () => {
    const { run: dump } = await succeeds(url, "backup", "it's");
    const { run: plain } = await succeeds(url, "restore", "it's");
    const { run: replacing } = await succeeds(url, "restore", "it's", "--replace");

    const to = "--dbname='postgres://box@db.example.com:5432/box?connect_timeout=5'";
    assert.equal(dump, `PGPASSWORD=… pg_dump --format=custom --no-owner ${to} --file='it'\\''s'`);
    assert.doesNotMatch(plain + replacing, /pass/);
    assert.match(plain, /^PGPASSWORD=… pg_restore --exit-on-error --single-transaction --no-owner --dbname/);
    assert.match(replacing, /--clean --if-exists/);
  });

  it("copy artifacts once the dump has been made, and not before", async () => {
    const [file, store, copies] = ["it.dump", "pg-store", "pg-copies"].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    const name = newName();
    const content = Buffer.from("bytes");
    await openBlobs(`file:${store}`).write(name, chunks(content), expect(content));
    const command: Argument[] = [{ BLOB_URL: `file:${store}` }, "backup", file, "--artifacts", copies];

    const before = await succeeds(url, ...command);
    const hasCopied = existsSync(copies);
    writeFileSync(file, "what pg_dump makes");
    const after = await succeeds(url, ...command);

    assert.match(before.run, /pg_dump/);
    assert.match(before.artifacts, /^not copied yet: first make .* then repeat npm run -s admin -- backup '/);
    assert.equal(hasCopied, false);
    assert.deepEqual([after.run, after.file, after.artifacts.copied], [undefined, file, 1]);
  });
});
