import { closeSync, fdatasync, fdatasyncSync, openSync } from "node:fs";
import { performance } from "node:perf_hooks";
import { promisify } from "node:util";
import { minuteMs, secondMs } from "../../durations.ts";
import { openGatherer } from "../../sharing/gatherer.ts";
import { DatabaseUnavailable } from "../database.ts";
import type { SyncGuard } from "./sync-guard.ts";

export interface LogSync {
  /** Resolves once all commits made before the call are on disk. @throws DatabaseUnavailable */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** A disk is slow from here on. A trip to the thread pool costs more than a quick sync. */
const slowMs = 1;
/** A slow disk is tried on the event loop again after this time. It doubles with each trial that is slow. */
const minSlowForMs = secondMs;
const maxSlowForMs = minuteMs;
/** A disk is quick again below this time, trip included, so that it comes back to the event loop. */
const quickInPoolMs = 3;
/** No quick disk takes longer, however busy the event loop is. */
const maxQuickMs = 10;

/**
 * Syncs the write-ahead log of a SQLite file. While the disk is slow it does so in Node's thread pool, where the event
 * loop does not wait. Calls made during a sync share the next one (shared/decisions/03-sqlite-one-writer.md).
 */
export function openLogSync(file: string, guard: Pick<SyncGuard, "requireWhole" | "fail">): LogSync {
  const syncInPool = promisify(fdatasync);
  let descriptor: number | undefined;
  let isSlow = false;
  let slowAt = 0;
  /** Slow syncs on the event loop since one was quick. */
  let slowTrials = 0;

  const slowForMs = () => Math.min(minSlowForMs * 2 ** (slowTrials - 1), maxSlowForMs);
  const syncOnLoop = (open: number) => {
    const start = performance.now();
    fdatasyncSync(open);
    const end = performance.now();
    isSlow = end - start > slowMs;
    slowTrials = isSlow ? slowTrials + 1 : 0;
    slowAt = end;
  };
  /**
   * The event loop may be busy when the sync ends: that time is not the disk's, and is subtracted. So beside a busy loop
   * a disk that takes milliseconds looks quick too: only a trial on the loop tells, or a sync that is quick as it is.
   */
  const syncOffLoop = async (open: number) => {
    const start = performance.now();
    const before = performance.eventLoopUtilization();
    await syncInPool(open);
    const end = performance.now();
    const busyMs = performance.eventLoopUtilization(before).active;
    const isQuick = end - start <= maxQuickMs && end - start - busyMs <= quickInPoolMs;
    if (end - start <= slowMs) slowTrials = 1;
    if (isQuick && end >= slowAt + slowForMs()) isSlow = false;
  };
  const syncFile = async (open: number) => {
    try {
      if (isSlow) await syncOffLoop(open);
      else syncOnLoop(open);
    } catch (error) {
      guard.fail(error as Error);
      closeFile(); // the kernel tells each descriptor of a failure; a new one has not missed any
    }
    guard.requireWhole();
  };
  const openFile = () => {
    try {
      return openSync(`${file}-wal`, "r+");
    } catch (error) {
      throw new DatabaseUnavailable("The database could not be written to disk.", { cause: error });
    }
  };
  const closeFile = () => {
    if (descriptor !== undefined) closeSync(descriptor);
    descriptor = undefined;
  };

  const calls = openGatherer<undefined>({
    when: async () => {},
    keyOf: () => "all",
    async flush() {
      descriptor ??= openFile();
      await syncFile(descriptor);
    },
  });

  return {
    sync: () => calls.add(undefined),
    async close() {
      await calls.flush();
      closeFile();
    },
  };
}
