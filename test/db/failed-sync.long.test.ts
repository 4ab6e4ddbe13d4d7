import assert from "node:assert/strict";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, before, describe, it } from "node:test";
import Client from "better-sqlite3";
import { SyncFailed } from "../../shared/db/database.ts";
import { migrate } from "../../shared/db/migrate.ts";
import { openDatabase } from "../../shared/db/open.ts";
import { findSharedValue, putSharedValue } from "../../shared/db/shared-values-store.ts";
import { copyAnewIfMarked } from "../../shared/db/sqlite/copy-anew.ts";
import { openSyncMark } from "../../shared/db/sqlite/sync-mark.ts";
import { mountDisk, straceMissing, trace } from "../helpers/disk/faults.ts";
import { type AfterCut, replay, traceOptions } from "../helpers/disk/power-cut.ts";
import { eventually } from "../helpers/http.ts";
import { run } from "../helpers/processes.ts";

/** One in so many answers is followed by a power cut: each takes a moment to judge. */
const answersBetweenCuts = 4;
const program = "test/db/keep-committing.ts";

describe("a sync of SQLite that fails", { skip: straceMissing, concurrency: 2 }, () => {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-failed-sync-"));
  const template = join(folder, "template.db");

  before(async () => {
    await migrate(`file:${template}`);
    const client = new Client(template);
    // Free pages before others, so that a copy has other numbers for its pages than the log has.
    client.exec(`
      CREATE TABLE filler AS SELECT zeroblob(200000) AS bytes;
      INSERT INTO settings (name, value) VALUES ('early', hex(zeroblob(50000)));
      DROP TABLE filler`);
    client.close();
  });
  after(() => rmSync(folder, { recursive: true }));

  const makeFile = (name: string) => {
    const file = join(folder, `${name}.db`);
    cpSync(template, file);
    return file;
  };
  const commit = (
    file: string,
    { from = 0, to, bytes = 2000 }: { from?: number; to: number; bytes?: number },
    { fault, output }: { fault?: string; output?: string } = {},
  ) =>
    trace(
      [program, `file:${file}`, String(from), String(to), String(bytes)],
      [...(output ? traceOptions : []), ...(fault ? ["-e", fault] : [])],
      output ? { output } : {},
    );
  const settingsIn = (file: string) => {
    const client = new Client(file);
    assert.equal(client.pragma("integrity_check", { simple: true }), "ok");
    const names = client.prepare("SELECT name FROM settings").pluck().all();
    client.close();
    return new Set(names);
  };
  const answersIn = (output: string) => output.split("\n").filter((line) => line.startsWith("committed"));
  const assertKept = (file: string, ...outputs: string[]) => {
    const kept = settingsIn(file);
    for (const answer of outputs.flatMap(answersIn)) assert.ok(kept.has(answer), answer);
  };
  const mark = (file: string) => {
    const opened = openSyncMark(file);
    opened.set();
    opened.close();
  };

  /** Returns what a start finds after a power cut. */
  const settingsAfterCut = (file: string, contentOf: AfterCut) => {
    const cut = `${file}.cut`;
    for (const suffix of ["", "-wal", "-shm", "-copy", "-sync"]) {
      rmSync(`${cut}${suffix}`, { force: true });
      const content = contentOf(`${file}${suffix}`);
      if (content && suffix !== "-shm") writeFileSync(`${cut}${suffix}`, content);
    }
    copyAnewIfMarked(cut);
    return settingsIn(cut);
  };

  /** Returns the answers that a power cut takes back, of those given before it. */
  const findLost = (file: string, output: string) => {
    const answered: string[] = [];
    const lost = new Set<string>();
    const named: string[] = [];
    const cutPower = (outcomes: AfterCut[]) => {
      for (const contentOf of outcomes) {
        const kept = settingsAfterCut(file, contentOf);
        for (const each of answered) if (!kept.has(each)) lost.add(each);
      }
    };
    replay(output, new Map([[file, readFileSync(template)]]), {
      onPrinted(text, outcomes) {
        if (!text.startsWith("committed")) return;
        if (answered.push(text.trim()) % answersBetweenCuts === 0) cutPower(outcomes.slice(0, 1));
      },
      onNamed(name, outcomes) {
        if (!["", "-wal", "-copy"].some((suffix) => name === file + suffix)) return;
        named.push(name.slice(file.length));
        const withoutMark = outcomes.map<AfterCut>(
          (contentOf) => (path) => (path.endsWith("-sync") ? undefined : contentOf(path)),
        );
        cutPower([...outcomes, ...withoutMark]);
      },
    });
    return { answers: answered.length, named, lost: [...lost] };
  };

  for (const [name, ...faults] of [
    ["once", "inject=fdatasync:error=EIO:when=4"],
    ["again in the copy", "inject=fdatasync:error=ENOSPC:when=4", "inject=fsync:error=ENOSPC:when=1"],
    ["before the copy has its name", "inject=fdatasync:error=EIO:when=4", "inject=fsync:error=EIO:when=2"],
    ["after the log was deleted", "inject=fdatasync:error=EIO:when=4", "inject=fsync:error=EIO:when=3"],
    ["before the mark is replaced", "inject=fdatasync:error=EIO:when=4", "inject=fsync:error=EIO:when=4"],
  ] as const)
    it(`loses no answer with the power when it fails ${name}`, async () => {
      const to = 32;
      const file = makeFile(name);
      const output = `${file}.trace`;
      const all = `${file}.all`;
      let [printed, from] = ["", 0];

      for (const fault of [...faults, undefined]) {
        const running = commit(file, { from, to }, { ...(fault && { fault }), output });
        await running.ended;
        appendFileSync(all, readFileSync(output));
        printed += running.output();
        from = answersIn(printed).length;
      }

      const { answers, named, lost } = findLost(file, readFileSync(all, "utf8"));
      assert.match(printed, /^refused: A sync of .* failed/m);
      assert.match(printed, /^copied$/m);
      assert.equal([...printed.matchAll(/^not copied: A sync of/gm)].length, faults.length - 1, printed);
      assert.equal(answers, to, printed);
      for (const each of ["", "-wal", "-copy"]) assert.ok(named.includes(each), named.join());
      assert.deepEqual(lost, []);
      assert.deepEqual(
        readdirSync(folder).filter((each) => each.startsWith(`${basename(file)}-`)),
        [`${basename(file)}-sync`],
      );
    });

  it("stops writes too when it is one of a checkpoint", async () => {
    const file = makeFile("checkpoint");
    const to = 150; // enough for several checkpoints, also on a quick disk

    const failing = commit(file, { to, bytes: 1e6 }, { fault: "inject=fsync:error=EIO:when=2..3" });
    await failing.ended;
    const next = commit(file, { from: answersIn(failing.output()).length, to, bytes: 1e6 });
    await next.ended;

    assert.match(failing.output(), /^refused: A sync of/m);
    assert.match(next.output(), /^copied$/m);
    assert.equal(answersIn(failing.output() + next.output()).length, to);
    assertKept(file, failing.output(), next.output());
  });

  it("stops the writes of every process, also of those that write nothing, until all have ended", async () => {
    const file = makeFile("shared");
    const reader = new Client(file, { readonly: true });
    reader.exec("SELECT 1 FROM settings");
    const idle = commit(file, { to: 0 });
    const other = commit(file, { from: 1e6, to: 2e6 });
    await eventually("commits", async () => answersIn(other.output()).length > 0);
    const failing = commit(file, { to: 1e6 }, { fault: "inject=fdatasync:error=EIO:when=3" });
    await Promise.all([failing, other, idle].map(({ ended }) => ended));
    const content = readFileSync(file);

    await assert.rejects(migrate(`file:${file}`), /other processes have it open/);
    reader.close();
    assert.ok(readFileSync(file).equals(content), "no close has copied the log");
    assert.ok(existsSync(`${file}-wal`));
    const starts = [3, 4, 5].map((each) => commit(file, { from: each * 1e6, to: each * 1e6 + 5 }));
    await Promise.all(starts.map(({ ended }) => ended));

    assert.match(other.output(), /^refused: A sync of/m);
    const printed = starts.map((each) => each.output());
    assert.equal(printed.filter((each) => /^copied$/m.test(each)).length, 1, printed.join());
    assert.equal(printed.flatMap(answersIn).length, 15, printed.join());
    assertKept(file, failing.output(), other.output(), ...printed);
  });

  it("is noticed by a process that only reads, which leaves the log as it is", async () => {
    const file = makeFile("reading");
    const noticed = Promise.withResolvers<Error>();
    const options = { url: `file:${file}`, poolSize: 1, timeoutMs: 50, onError: () => {} };
    const db = openDatabase({ ...options, onSyncFailed: noticed.resolve });
    await db.transaction((tx) => putSharedValue(tx, "written", "yes"));
    const content = readFileSync(file);

    mark(file);

    assert.ok((await noticed.promise) instanceof SyncFailed);
    await assert.rejects(
      db.transaction((tx) => putSharedValue(tx, "written", "no")),
      SyncFailed,
    );
    await assert.rejects(db.sync(), SyncFailed);
    assert.equal(await findSharedValue(db, "written"), "yes");
    assert.throws(() => openDatabase(options), /other processes have it open/);
    await db.close();
    assert.ok(readFileSync(file).equals(content), "nothing is copied");
  });

  it("keeps every answer when the kernel has lost the end of the log", async () => {
    const file = makeFile("lost");
    const failing = commit(file, { to: 100 }, { fault: "inject=fdatasync:error=EIO:when=3" });
    await failing.ended;
    truncateSync(`${file}-wal`, statSync(`${file}-wal`).size - 100); // of the commit that was refused

    await migrate(`file:${file}`);

    assertKept(file, failing.output());
  });

  it("ends a start with 78 when there is no room for the copy", async (t) => {
    const place = join(folder, "small");
    const disk = mountDisk(place, 24);
    if (!disk) return t.skip("a small disk cannot be mounted");
    const file = join(place, "box.db");
    cpSync(template, file);
    mark(file);
    disk.fill();
    t.after(() => disk.unmount());
    const settings = { DATABASE_URL: `file:${file}`, REDIS_URL: process.env.TEST_REDIS_URL ?? "" };

    const codes = new Map<string, number | null>();
    for (const each of ["ingress/main.ts", "scripts/migrate.ts"]) {
      const start = run([each], settings);
      await eventually("its end", async () => start.process.exitCode !== null);
      assert.match(start.output(), /A sync of .* The copy needs \d MB in the same folder: make room there/);
      codes.set(each, start.process.exitCode);
    }
    disk.free();
    await migrate(`file:${file}`);
    const left = readdirSync(place).filter((name) => name.startsWith("box.db"));

    assert.deepEqual([...codes.values()], [78, 78]);
    assert.deepEqual(left.sort(), ["box.db", "box.db-sync", "box.db.migrate"]);
  });
});
