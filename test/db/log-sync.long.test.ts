import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { loaders } from "../../scripts/node-options.ts";
import { DatabaseUnavailable } from "../../shared/db/database.ts";
import { migrate } from "../../shared/db/migrate.ts";
import { openLogSync } from "../../shared/db/sqlite/log-sync.ts";
import { followQuickly, straceMissing, trace } from "../helpers/disk/faults.ts";

const commits = 20;
const program = `
  import { writeSync } from "node:fs";
  import { putSharedValue } from "./shared/db/shared-values-store.ts";
  import { openDatabase } from "./shared/db/open.ts";
  const db = openDatabase({ url: process.argv[1], poolSize: 1, timeoutMs: 5000, onError: () => {} });
  for (let count = 0; count < ${commits}; count++) {
    await db.transaction((tx) => putSharedValue(tx, "count", String(count)));
    writeSync(1, "committed");
  }
  await db.close();
`;

describe("the log of a SQLite database", () => {
  let folder: string;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), "signalbox-test-"));
  });
  after(() => rmSync(folder, { recursive: true }));

  /** A word for each system call that matters, in their order. A call of the thread pool counts when it ends. */
  const traceCommits = async (name: string, options: string[]): Promise<string> => {
    const url = `file:${join(folder, `${name}.db`)}`;
    const trace = join(folder, name);
    await migrate(url);
    const strace = [...followQuickly, "-o", trace, "-e", "trace=pwrite64,fdatasync,write", ...options];
    const node = [process.execPath, ...loaders, "--input-type=module", "-e", program, url];
    const { status, stderr } = spawnSync("strace", [...strace, ...node], { encoding: "utf8" });
    assert.equal(status, 0, stderr);
    const calls = readFileSync(trace, "utf8").matchAll(/(committed|pwrite64\(|fdatasync[^<\n]*= 0)/g);
    return [...calls].map(([call]) => call.slice(0, 1)).join("");
  };

  for (const [disk, options] of [
    ["quick", []],
    ["slow", ["-e", "inject=fdatasync:delay_enter=3000"]],
  ] as const)
    it(`is synced before a transaction resolves, on a ${disk} disk`, { skip: straceMissing }, async () => {
      const calls = await traceCommits(disk, [...options]);
      const untilCommitted = calls.split("c").slice(0, -1);
      assert.equal(untilCommitted.length, commits);
      for (const before of untilCommitted) assert.match(before, /p+f+$/);
    });

  it("is never synced on the event loop again while the disk is slow", { skip: straceMissing }, async () => {
    const file = join(folder, "stalled.db");
    const output = join(folder, "stalled.trace");
    await migrate(`file:${file}`);

    // Three seconds: a slow disk was tried again after one.
    const running = trace(
      ["test/db/keep-committing.ts", `file:${file}`, "0", "60", "10"],
      ["-e", "inject=fdatasync:delay_enter=50000"],
      { output },
    );
    await running.ended;

    const syncs = [...readFileSync(output, "utf8").matchAll(/^(\d+) +fdatasync\(/gm)].map(
      ([, thread]) => thread,
    );
    assert.ok(syncs.length >= 60);
    assert.equal(syncs.filter((thread) => thread === syncs[0]).length, 1, "the first alone");
  });

  it("fails a transaction with DatabaseUnavailable when it cannot be synced", async () => {
    const log = openLogSync(join(folder, "missing.db"), { requireWhole: () => {}, fail: assert.fail });
    await assert.rejects(log.sync(), DatabaseUnavailable);
    await log.close();
  });
});
