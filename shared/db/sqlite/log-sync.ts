import { closeSync, fdatasync, fdatasyncSync, openSync } from "node:fs";
import { promisify } from "node:util";
import { secondMs } from "../../durations.ts";
import { createBatcher } from "../../runtime/batcher.ts";
import { DatabaseUnavailable } from "../database.ts";

export interface LogSync {
  /** Resolves once all commits made before the call are on disk. @throws DatabaseUnavailable */
  sync(): Promise<void>;
  close(): Promise<void>;
}

const syncInPool = promisify(fdatasync);
/** A trip to the thread pool costs more than a quick disk. */
const slowMs = 1;
const slowForMs = secondMs;

/**
 * Syncs the write-ahead log of a SQLite file. While the disk is slow it does so in Node's thread pool, where the event
 * loop does not wait. Calls made during a sync share the next one (shared/decisions/03-sqlite-one-writer.md).
 */
export function openLogSync(file: string): LogSync {
  let descriptor: number | undefined;
  let inPoolUntil = 0;

  const syncFile = async (open: number) => {
    const start = performance.now();
    if (start < inPoolUntil) return await syncInPool(open);
    fdatasyncSync(open);
    const end = performance.now();
    if (end - start > slowMs) inPoolUntil = end + slowForMs;
  };

  const batcher = createBatcher<void, void>({
    async flush(calls) {
      try {
        descriptor ??= openSync(`${file}-wal`, "r+");
        await syncFile(descriptor);
      } catch (error) {
        throw new DatabaseUnavailable("The database could not be written to disk.", { cause: error });
      }
      return calls;
    },
    gather: async () => {},
  });

  return {
    sync: () => batcher.add(),
    async close() {
      await batcher.idle();
      if (descriptor !== undefined) closeSync(descriptor);
    },
  };
}
