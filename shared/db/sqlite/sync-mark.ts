import { randomBytes } from "node:crypto";
import {
  chownSync,
  closeSync,
  existsSync,
  linkSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { DatabaseUnavailable, rootCause } from "../database.ts";

/** The mark has two names of one length: `failed` names the last failed sync, `repaired` the last repaired one. */
const none = "0".repeat(16);
const lines = (failed: string, repaired: string) => `failed   ${failed}\nrepaired ${repaired}\n`;
const length = lines(none, none).length;
const failedAt = "failed   ".length;
const repairedAt = length - none.length - 1;

/**
 * Says to all processes of a SQLite file that a sync of it failed. It is a file beside the database, made before it is
 * needed, as a full disk takes no new file. It is as old as the pages in the kernel's memory that it is about, so it
 * needs no sync: it outlives the processes, and a power cut ends both.
 */
export interface SyncMark {
  isSet(): boolean;
  set(): void;
  /** Returns a function that clears the failures marked so far. A later failure stays marked. */
  clearer(): () => void;
  close(): void;
}

/** @throws DatabaseUnavailable when there is none and none can be made, unless the file system is read-only */
export function openSyncMark(file: string): SyncMark {
  const descriptor = openMark(file);
  const buffer = Buffer.alloc(length);
  /** `repaired` when this process set the mark. The same again shows that the kernel lost the mark, or never took it. */
  let repairedBefore: string | undefined;

  const read = () => {
    const text = readText();
    return { failed: fieldAt(text, failedAt), repaired: fieldAt(text, repairedAt) };
  };
  const readText = () => {
    if (descriptor === undefined) return lines(none, none);
    try {
      readSync(descriptor, buffer, 0, length, 0);
      return buffer.toString("latin1");
    } catch {
      return lines("unreadable".padEnd(none.length), none);
    }
  };
  const write = () => {
    try {
      if (descriptor !== undefined)
        writeSync(descriptor, randomBytes(none.length / 2).toString("hex"), failedAt);
    } catch {} // the process remembers, and tries again
  };

  return {
    isSet() {
      const { failed, repaired } = read();
      if (failed !== repaired) return true;
      if (repairedBefore === undefined) return false;
      if (repaired !== repairedBefore) repairedBefore = undefined;
      else write();
      return repairedBefore !== undefined;
    },
    set() {
      repairedBefore = read().repaired;
      write();
    },
    clearer() {
      const { failed } = read();
      return () => {
        if (descriptor !== undefined) writeSync(descriptor, failed, repairedAt);
      };
    },
    close() {
      if (descriptor !== undefined) closeSync(descriptor);
    },
  };
}

function fieldAt(text: string, start: number): string {
  return text.slice(start, start + none.length);
}

/** Returns undefined on a read-only file system without a mark: nothing can be written there. */
function openMark(file: string): number | undefined {
  const path = `${file}-sync`;
  try {
    if (!existsSync(path)) makeMark(path, file);
    return openSync(path, "r+");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EROFS")
      throw new DatabaseUnavailable(`${path} cannot be opened for writing`, { cause: error });
    return existsSync(path) ? openSync(path, "r") : undefined;
  }
}

/** Another process may make it at the same time. It appears with its content, and belongs to whom the database does. */
function makeMark(path: string, file: string): void {
  const draft = `${path}.${process.pid}-${randomBytes(4).toString("hex")}`;
  const { mode, uid, gid } = statSync(file);
  try {
    writeFileSync(draft, lines(none, none), { flag: "wx", mode: mode & 0o777 });
    if (process.getuid?.() === 0) chownSync(draft, uid, gid);
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Returns true for a failed sync of SQLite's own: of a checkpoint, or of the log's header. */
export function isFailedSync(error: unknown): boolean {
  const code = (rootCause(error) as { code?: unknown } | undefined)?.code;
  return code === "SQLITE_IOERR_FSYNC" || code === "SQLITE_IOERR_DIR_FSYNC";
}
