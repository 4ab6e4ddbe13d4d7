import type Client from "better-sqlite3";
import { openThread } from "../../runtime/thread.ts";
import type { Checkpoint } from "./checkpoint-thread.ts";

/** 16 MB. Commits write some pages again and again, such as those of indexes: one copy serves many commits. */
const minPages = 4000;
/** Bounds a log that is written without a pause: COMMIT then copies the pages that the thread has left. */
const maxPages = 16_384;
/** Commits may be milliseconds apart. */
const msBetweenCounts = 20;

export interface Checkpoints {
  /** Call it after a commit. */
  startIfDue(): void;
  close(): Promise<void>;
}

/**
 * Copies the write-ahead log of a SQLite file into the database in a thread: COMMIT would do it on the event loop, for
 * 10 ms and two syncs (shared/decisions/03-sqlite-one-writer.md).
 */
export function openCheckpoints(writer: Client.Database, file: string): Checkpoints {
  writer.pragma(`wal_autocheckpoint = ${maxPages}`);
  const state = writer.prepare("PRAGMA wal_checkpoint(NOOP)").raw();
  const thread = openThread<Checkpoint, unknown>(new URL("./checkpoint-thread.ts", import.meta.url));
  let isRunning = false;
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

  return {
    startIfDue() {
      const now = performance.now();
      if (isRunning || now < countedAt + msBetweenCounts) return;
      countedAt = now;
      if (countPages() < minPages) return;
      isRunning = true;
      const finish = () => {
        isRunning = false;
      };
      void thread.request({ file }).then(finish, finish);
    },
    close: () => thread.close(),
  };
}
