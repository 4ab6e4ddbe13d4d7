import { openSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { secondMs } from "../../durations.ts";
import type { CheckpointTask } from "./checkpoint-task.ts";
import { syncFailed } from "./repair.ts";
import { openSyncMark } from "./sync-mark.ts";

const repairAgainMs = secondMs;

/** Keeps all processes of a SQLite file from writing after a failed sync, until it is repaired. */
export interface SyncGuard {
  isWhole(): boolean;
  /** @throws SyncFailed */
  requireWhole(): void;
  /** Repairs the file, or waits for a repair that runs. @throws SyncFailed */
  untilWhole(): Promise<void>;
  /** Records a failed sync of this process. Call it before anything else is answered. */
  fail(error: Error): void;
  /** Tries a last repair. @returns false if the file must not be closed as usual (abandon.ts) */
  close(): Promise<boolean>;
}

export interface SyncGuardOptions {
  file: string;
  inThread: CheckpointTask;
  /** The time that a write waits for a repair. */
  timeoutMs: number;
  onSyncFailed?: ((error: Error) => void) | undefined;
  onSyncRepaired?: (() => void) | undefined;
}

export function openSyncGuard({
  file,
  inThread,
  timeoutMs,
  onSyncFailed,
  onSyncRepaired,
}: SyncGuardOptions): SyncGuard {
  const mark = openSyncMark(file);
  let database: number | undefined;
  let running: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isKnown = false;
  let cause: Error = new Error("another process saw it");

  const repair = async () => {
    clearTimeout(timer);
    timer = undefined;
    try {
      database ??= openSync(file, "r+"); // never closed: see `repair`
      const { failure } = await inThread({ name: "repair", file, database });
      if (failure) cause = new Error(failure.message);
    } catch (error) {
      cause = error as Error;
    }
    running = undefined;
    if (isWhole()) return;
    timer = setTimeout(start, repairAgainMs);
    timer.unref();
  };
  const start = () => {
    running ??= repair();
  };
  const isWhole = () => {
    const isMarked = mark.isSet();
    if (!isMarked && isKnown) onSyncRepaired?.();
    isKnown = isMarked;
    return !isMarked;
  };
  const requireWhole = () => {
    if (isWhole()) return;
    if (!timer) start();
    throw syncFailed(file, cause);
  };

  return {
    isWhole,
    requireWhole,
    async untilWhole() {
      if (isWhole()) return;
      if (!timer) start();
      await Promise.race([running, sleep(timeoutMs, undefined, { ref: false })]);
      requireWhole();
    },
    fail(error) {
      mark.set();
      cause = error;
      isKnown = true;
      onSyncFailed?.(error);
      if (!timer) start();
    },
    async close() {
      if (!isWhole()) {
        start();
        await Promise.race([running, sleep(timeoutMs, undefined, { ref: false })]);
      }
      clearTimeout(timer);
      const mayClose = isWhole();
      mark.close();
      return mayClose;
    },
  };
}
