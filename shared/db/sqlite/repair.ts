import { closeSync, existsSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import Client from "better-sqlite3";
import { secondMs } from "../../durations.ts";
import { SyncFailed } from "../database.ts";
import { abandon } from "./abandon.ts";
import { type LogContent, readAt, readFrames } from "./log-frames.ts";
import { openSyncMark } from "./sync-mark.ts";

const lockWaitMs = 2 * secondMs;

/**
 * For a program that opens a SQLite file by itself, before it does.
 * @throws SyncFailed when a sync of the file failed, and cannot be made good
 */
export function requireWhole(file: string): void {
  if (!existsSync(file)) return;
  const mark = openSyncMark(file);
  try {
    if (mark.isSet()) repair(file, openSync(file, "r+"), { isAlone: true });
  } catch (error) {
    throw syncFailed(file, error as Error);
  } finally {
    mark.close();
  }
}

export function syncFailed(file: string, cause: Error): SyncFailed {
  return new SyncFailed(
    `A sync of ${file} failed. Nothing is written until its log is on disk again (${cause.message}). Look at the disk, and at the log of the kernel`,
    { cause },
  );
}

/**
 * Makes good a failed sync of a SQLite file. The kernel may have marked any page as stored that is not, of the log and of
 * the database, so all of them are written again:
 * 1. The log, as it is, then a sync. Only then may it be copied: a log with a hole would bring back old pages.
 * 2. A checkpoint to its end.
 * 3. All pages of the log into the database, then a sync. The checkpoint leaves out those of earlier ones, which are
 *    synced by the one that reaches the end (shared/decisions/03-sqlite-one-writer.md).
 *
 * @param database a descriptor of the file. To close it would end the locks of this process (`fcntl` of POSIX)
 * @param options.isAlone no other connection of this process is open: to close these could copy the log
 * @throws when a sync or write fails again, and when a write or a long read is in the way; then the mark stays
 */
export function repair(file: string, database: number, { isAlone }: { isAlone: boolean }): void {
  const mark = openSyncMark(file);
  const writer = new Client(file, { fileMustExist: true, timeout: lockWaitMs });
  const copier = new Client(file, { fileMustExist: true, timeout: 0 });
  let isWhole = false;
  try {
    writer.exec("BEGIN IMMEDIATE"); // nobody appends to the log or restarts it
    const clear = mark.clearer();
    if (mark.isSet()) writeAgain(file, database, copier);
    clear();
    isWhole = true;
  } finally {
    mark.close();
    if (writer.inTransaction) writer.exec("ROLLBACK");
    if (isAlone && !isWhole) abandon(copier, writer);
    else for (const client of [copier, writer]) client.close();
  }
}

function writeAgain(file: string, database: number, copier: Client.Database): void {
  const { inLog } = checkpoint(copier, "NOOP");
  if (inLog > 0) {
    const log = openSync(`${file}-wal`, "r+");
    try {
      const content = readFrames(log, inLog, (bytes, offset) => writeAt(log, bytes, offset));
      fdatasyncSync(log);
      const { copied } = checkpoint(copier, "PASSIVE");
      if (copied !== inLog) throw new Error("a long read, such as a backup, is in the way");
      writePages(log, database, content);
    } finally {
      closeSync(log);
    }
  }
  fdatasyncSync(database);
}

function checkpoint(client: Client.Database, mode: "NOOP" | "PASSIVE"): { inLog: number; copied: number } {
  const [, inLog, copied] = client.prepare(`PRAGMA wal_checkpoint(${mode})`).raw().get() as number[];
  return { inLog: inLog ?? 0, copied: copied ?? 0 };
}

/** The checkpoint is complete, and the log is locked: these pages are what the database has, and stay so. */
function writePages(log: number, database: number, { pageSize, pageCount, newest }: LogContent): void {
  for (const [page, at] of newest)
    if (page <= pageCount) writeAt(database, readAt(log, at, pageSize), (page - 1) * pageSize);
}

function writeAt(descriptor: number, bytes: Buffer, offset: number): void {
  for (let done = 0; done < bytes.length; )
    done += writeSync(descriptor, bytes, done, bytes.length - done, offset + done);
}
