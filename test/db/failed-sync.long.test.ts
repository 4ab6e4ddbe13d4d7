import assert from "node:assert/strict";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import Client from "better-sqlite3";
import { DatabaseUnavailable, type Db } from "../../shared/db/database.ts";
import { findFact, putFact } from "../../shared/db/facts-store.ts";
import { migrate } from "../../shared/db/migrate.ts";
import { openDatabase } from "../../shared/db/open.ts";
import { straceMissing, trace } from "../helpers/disk/faults.ts";
import { replay, traceOptions } from "../helpers/disk/power-cut.ts";
import { eventually } from "../helpers/http.ts";

/** One in so many answers is followed by a power cut: each takes a moment to judge. */
const answersBetweenCuts = 4;

describe("a sync of SQLite that fails", { skip: straceMissing, concurrency: 2 }, () => {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-failed-sync-"));
  const template = join(folder, "template.db");

  before(() => migrate(`file:${template}`));
  after(() => rmSync(folder, { recursive: true }));

  const makeFile = (name: string) => {
    const file = join(folder, `${name}.db`);
    cpSync(template, file);
    return file;
  };
  const open = (file: string) =>
    openDatabase({ url: `file:${file}`, poolSize: 1, timeoutMs: 50, onError: () => {} });
  const keepCommitting = (
    file: string,
    fault: string,
    { commits = 1e6, bytes = 2000, output }: { commits?: number; bytes?: number; output?: string },
  ) =>
    trace(
      ["test/db/keep-committing.ts", `file:${file}`, String(commits), String(bytes)],
      [...(output ? traceOptions : []), "-e", fault],
      output ? { output } : {},
    );
  const write = (db: Db) => db.transaction((tx) => putFact(tx, "written", "yes"));
  /** Keeps the log from being copied to its end. Its close copies nothing. */
  const startRead = (file: string) => {
    const reader = new Client(file, { readonly: true });
    reader.exec("BEGIN; SELECT 1 FROM settings");
    return reader;
  };
  const settingsIn = (file: string) => {
    const client = new Client(file);
    assert.equal(client.pragma("integrity_check", { simple: true }), "ok");
    const names = client.prepare("SELECT name FROM settings").pluck().all();
    client.close();
    return new Set(names);
  };
  const answersIn = (output: string) => output.split("\n").filter((line) => line.startsWith("committed"));

  /** Returns the answers that a power cut takes back, of those given before it. */
  const findLost = (file: string, output: string) => {
    const answered: string[] = [];
    const lost = new Set<string>();
    replay(output, new Map([[file, readFileSync(template)]]), (text, contentOf) => {
      if (!text.startsWith("committed")) return;
      answered.push(text.trim());
      if (answered.length % answersBetweenCuts > 0) return;
      const cut = `${file}.cut`;
      for (const suffix of ["", "-wal", "-shm"]) rmSync(`${cut}${suffix}`, { force: true });
      for (const suffix of ["", "-wal"]) writeFileSync(`${cut}${suffix}`, contentOf(`${file}${suffix}`));
      const kept = settingsIn(cut);
      for (const each of answered) if (!kept.has(each)) lost.add(each);
    });
    return { answers: answered.length, lost: [...lost] };
  };

  for (const [name, fault] of [
    ["once", "inject=fdatasync:error=EIO:when=4"],
    ["for a while, also in repairs", "inject=fdatasync,fsync:error=ENOSPC:when=4..6"],
  ] as const)
    it(`loses no answer with the power when it fails ${name}`, async () => {
      const commits = 32;
      const file = makeFile(name);
      const output = `${file}.trace`;

      const running = keepCommitting(file, fault, { commits, output });
      await running.ended;

      const { answers, lost } = findLost(file, readFileSync(output, "utf8"));
      assert.match(running.output(), /^refused: A sync of .* failed/m);
      assert.equal(answers, commits);
      assert.deepEqual(lost, []);
    });

  it("stops writes too when it is one of a checkpoint", async () => {
    const file = makeFile("checkpoint");
    const commits = 150; // enough for several checkpoints, also on a quick disk

    const running = keepCommitting(file, "inject=fsync:error=EIO:when=2..3", { commits, bytes: 1e6 });
    await running.ended;

    assert.match(running.output(), /^refused: .* \(disk I\/O error\)/m);
    assert.equal(answersIn(running.output()).length, commits);
    assert.ok(statSync(file).size > 20e6, "the log is copied after all");
  });

  it("stops the writes of every process, also of one that starts after its death, until the log is copied", async () => {
    const file = makeFile("shared");
    const early = open(file);
    await write(early);
    const reader = startRead(file);
    const running = keepCommitting(file, "inject=fdatasync:error=EIO:when=3", {});
    await eventually("a failed sync", async () => /refused/.test(running.output()));
    await running.kill("SIGKILL");

    const late = open(file);
    for (const db of [early, late]) {
      await assert.rejects(write(db), DatabaseUnavailable);
      await eventually("the reason", () =>
        db.sync().then(
          () => assert.fail("it is not repaired"),
          ({ message }) =>
            /A sync of .* failed\. .*a long read, such as a backup, is in the way/.test(message),
        ),
      );
    }
    await assert.rejects(migrate(`file:${file}`), /A sync of/);
    assert.equal(await findFact(late, "written"), "yes");

    reader.close();
    for (const db of [early, late]) {
      await eventually("a repair", () =>
        write(db).then(
          () => true,
          () => false,
        ),
      );
      await db.sync();
    }
    for (const db of [early, late]) await db.close();
    const kept = settingsIn(file);
    for (const answer of answersIn(running.output())) assert.ok(kept.has(answer), answer);
  });

  it("does not let a process that ends copy a log that may have holes", async () => {
    const file = makeFile("closed");
    const before = readFileSync(file);
    const reader = startRead(file);
    const running = keepCommitting(file, "inject=fdatasync:error=EIO:when=3", {});
    await eventually("a repair that failed", async () => /a long read/.test(running.output()));
    // So the next one, a second later or at the end, fails too.
    truncateSync(`${file}-wal`, statSync(`${file}-wal`).size - 100);
    reader.close();

    await running.kill("SIGTERM");

    assert.ok(readFileSync(file).equals(before), "nothing is copied");
    assert.ok(existsSync(`${file}-wal`));
    const db = open(file);
    await eventually("a repair", () =>
      write(db).then(
        () => true,
        () => false,
      ),
    );
    await db.close();
    const kept = settingsIn(file);
    for (const answer of answersIn(running.output())) assert.ok(kept.has(answer), answer);
  });

  it("is not repaired from a log whose pages the kernel has lost", async () => {
    const file = makeFile("lost");
    const reader = startRead(file);
    const running = keepCommitting(file, "inject=fdatasync:error=EIO:when=3", {});
    await eventually("a failed sync", async () => /refused/.test(running.output()));
    await running.kill("SIGKILL");
    truncateSync(`${file}-wal`, statSync(`${file}-wal`).size - 100); // the end of the commit that was refused

    const early = new Client(file, { readonly: true });
    early.exec("SELECT 1 FROM settings"); // keeps the index of the log
    reader.close();
    await assert.rejects(migrate(`file:${file}`), /the log is not as it was written/);
    early.close();
  });
});
