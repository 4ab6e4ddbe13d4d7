import type Client from "better-sqlite3";
import type { CheckpointTask } from "./checkpoint-task.ts";

/** 16 MB. Commits write some pages, such as those of indexes, again and again: one copy serves many commits. */
const minPages = 4000;
/** Bounds a log that is written without a pause: the next commit then waits for the thread. */
const maxPages = 16_384;
/** Commits may be milliseconds apart. */
const msBetweenCounts = 20;

export interface Checkpoints {
  /** Call it after a commit. */
  startIfDue(): void;
  /** Undefined, unless the next commit has to wait. */
  untilShort(): Promise<void> | undefined;
  /** Call it after a commit found no room. Once all of the log is copied, it begins again in its place. */
  diskIsFull(): void;
}

/**
 * Copies the write-ahead log of a SQLite file into the database in a thread: COMMIT would do it on the event loop, for
 * 10 ms and two syncs, and would not say that one failed (shared/decisions/03-sqlite-one-writer.md).
 */
export function openCheckpoints(
  writer: Client.Database,
  options: { file: string; inThread: CheckpointTask; onSyncFailed: (error: Error) => void },
): Checkpoints {
  const { file, inThread, onSyncFailed } = options;
  writer.pragma("wal_autocheckpoint = 0");
  const state = writer.prepare("PRAGMA wal_checkpoint(NOOP)").raw();
  let running: Promise<void> | undefined;
  let isLong = false;
  let isFull = false;
  let countedAt = Number.NEGATIVE_INFINITY;

  /** Counts pages of the log that are not in the database yet. */
  const countPages = () => {
    try {
      const [, inLog, copied] = state.get() as [isBusy: number, inLog: number, copied: number];
      return inLog - copied;
    } catch {
      return 0; // another process has it locked; the commit must not fail for it
    }
  };
  const copy = async () => {
    try {
      const { failure } = await inThread({ file });
      if (failure?.isFailedSync) onSyncFailed(new Error(failure.message));
      if (!failure) isFull = false;
    } catch {
      // the thread ended; the next request starts it again
    } finally {
      running = undefined;
    }
  };

  return {
    startIfDue() {
      const now = performance.now();
      if (now < countedAt + msBetweenCounts) return;
      countedAt = now;
      const pages = countPages();
      isLong = pages > maxPages;
      if (pages >= minPages) running ??= copy();
    },
    untilShort() {
      // Before the commit: it would append to the log, and take the room that the copy needs.
      if (isFull) running ??= copy();
      return isLong || isFull ? running : undefined;
    },
    diskIsFull() {
      isFull = true;
    },
  };
}
