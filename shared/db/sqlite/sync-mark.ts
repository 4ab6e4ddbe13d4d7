import { randomBytes } from "node:crypto";
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  linkSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { DatabaseUnavailable, rootCause, SyncFailed } from "../database.ts";
import { makeLike } from "./set-aside.ts";

const none = "no sync failed\n";
const failed = "a sync failed\n";

/**
 * Says to all processes of a SQLite file, and to the next start, that a sync of it failed. It is a file beside the database,
 * made before it is needed, as a full disk takes no new file. The sync of the mark may fail too: the mark is as old as the
 * pages in the kernel's memory that it is about, so it outlives the processes, and a power cut ends both.
 */
export interface SyncMark {
  isSet(): boolean;
  set(): void;
  close(): void;
}

/** @throws DatabaseUnavailable when there is none and none can be made, unless the file system is read-only */
export function openSyncMark(file: string): SyncMark {
  const descriptor = openMark(file);
  const buffer = Buffer.alloc(failed.length);

  return {
    isSet() {
      if (descriptor === undefined) return false;
      try {
        readSync(descriptor, buffer, 0, failed.length, 0);
        return buffer.toString() === failed;
      } catch {
        return true;
      }
    },
    set() {
      if (descriptor === undefined) return;
      try {
        writeSync(descriptor, failed, 0);
        fdatasyncSync(descriptor);
      } catch {} // the process remembers, and tries again
    },
    close() {
      if (descriptor !== undefined) closeSync(descriptor);
    },
  };
}

/** @throws SyncFailed */
export function requireUnmarked(file: string): void {
  if (isMarked(file)) throw syncFailed(file, new Error("the file -sync beside it says so"));
}

export function isMarked(file: string): boolean {
  const mark = openSyncMark(file);
  const isSet = mark.isSet();
  mark.close();
  return isSet;
}

/** Takes the mark away by another file: processes that still have the former database open have its mark open too. */
export function replaceMark(file: string): void {
  makeMark(file, renameSync);
}

export function syncFailed(file: string, cause: Error): SyncFailed {
  return new SyncFailed(
    `A sync of ${file} failed. Nothing is written until all of its processes have ended, and the next start has copied it (${cause.message}). Look at the disk, and at the log of the kernel`,
    { cause },
  );
}

/** Returns undefined on a read-only file system without a mark: nothing can be written there. */
function openMark(file: string): number | undefined {
  const path = markOf(file);
  try {
    if (!existsSync(path)) makeMark(file, linkSync);
    return openSync(path, "r+");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EROFS")
      throw new DatabaseUnavailable(`${path} cannot be opened for writing`, { cause: error });
    return existsSync(path) ? openSync(path, "r") : undefined;
  }
}

/** It appears with its content. Another process may make it at the same time. */
function makeMark(file: string, place: (draft: string, path: string) => void): void {
  const draft = `${markOf(file)}.${process.pid}-${randomBytes(4).toString("hex")}`;
  try {
    writeFileSync(draft, none, { flag: "wx" });
    makeLike(file, draft);
    place(draft, markOf(file));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

function markOf(file: string): string {
  return `${file}-sync`;
}

/** Returns true for a failed sync of SQLite's own: of a checkpoint, or of the log's header. */
export function isFailedSync(error: unknown): boolean {
  const code = (rootCause(error) as { code?: unknown } | undefined)?.code;
  return code === "SQLITE_IOERR_FSYNC" || code === "SQLITE_IOERR_DIR_FSYNC";
}
