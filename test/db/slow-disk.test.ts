import assert from "node:assert/strict";
import fs, { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { after, before, describe, it, mock } from "node:test";
import { type LogSync, openLogSync } from "../../shared/db/sqlite/log-sync.ts";
import { minuteMs, secondMs } from "../../shared/durations.ts";

describe("a disk whose syncs take two milliseconds, and look quick from the thread pool", () => {
  let folder: string;
  let log: LogSync;
  let nowMs = 0;
  let syncMs = 2;
  /** The times of syncs on the event loop. */
  let trials: number[] = [];

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "signalbox-test-"));
    writeFileSync(join(folder, "file.db-wal"), "");
    mock.method(performance, "now", () => nowMs);
    mock.method(fs, "fdatasyncSync", () => {
      trials.push(nowMs);
      nowMs += syncMs;
    });
    mock.method(fs, "fdatasync", (_: number, done: () => void) => {
      nowMs += syncMs;
      setImmediate(done);
    });
    syncBuiltinESMExports();
    log = openLogSync(join(folder, "file.db"), { requireWhole: () => {}, fail: assert.fail });
  });
  after(async () => {
    mock.restoreAll();
    syncBuiltinESMExports();
    await log.close();
    rmSync(folder, { recursive: true });
  });

  /** Syncs twice a second. */
  const syncFor = async (ms: number) => {
    trials = [];
    for (const end = nowMs + ms; nowMs < end; nowMs += 500) await log.sync();
  };

  it("is tried on the event loop after twice the time that it was left alone before", async () => {
    await syncFor(5 * minuteMs);

    const pauses = trials.slice(1).map((at, index) => Math.round((at - (trials[index] ?? 0)) / secondMs));
    assert.deepEqual(pauses.slice(0, 6), [2, 3, 5, 9, 17, 33]);
    assert.ok(pauses.slice(6).every((pause) => pause >= 60 && pause <= 62));
  });

  it("is synced on the event loop once a sync in the thread pool takes less than a millisecond", async () => {
    syncMs = 0;
    await syncFor(10 * secondMs);
    assert.equal(trials.length, 19);
  });

  it("is tried again after a second if it was quick before it was slow", async () => {
    syncMs = 2;
    await syncFor(2 * secondMs + 500);
    assert.equal(trials.length, 2);
  });
});
