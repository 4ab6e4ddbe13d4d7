import { existsSync, renameSync, rmSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import Client from "better-sqlite3";
import { CopyFailed, NeedsRoom, rootCause } from "../database.ts";
import { abandon } from "./abandon.ts";
import { makeLike, syncFile } from "./set-aside.ts";
import { isMarked, replaceMark, syncFailed } from "./sync-mark.ts";

/**
 * Makes good a failed sync of a SQLite file. Call it before the file is opened. The kernel may have marked any page as
 * stored that is not, of the log and of the database, so all of them are written anew, into another file
 * (shared/decisions/03-sqlite-one-writer.md). A run that is killed anywhere is completed or repeated by the next.
 * @returns true if the file was copied
 * @throws SyncFailed while other processes have the file open
 * @throws CopyFailed when this process must end, and another one try again
 */
export function copyAnewIfMarked(file: string): boolean {
  if (!existsSync(file) || !needsCopy(file)) return false;
  const { ino } = statSync(file);
  const client = openAlone(file);
  // Another process may have done it before the file was locked.
  if (statSync(file).ino !== ino || !needsCopy(file)) {
    client.close();
    return copyAnewIfMarked(file);
  }
  try {
    if (!existsSync(copyOf(file))) copy(client, file);
    replace(file);
  } catch (error) {
    abandon(client);
    throw error instanceof CopyFailed ? error : copyFailed(file, error as Error);
  }
  client.close(); // SQLite does not copy the log into a file that has lost its name
  return true;
}

/** A copy under this name is complete, and newer than the database: its log may be gone already. */
function copyOf(file: string): string {
  return `${file}-copy`;
}

function needsCopy(file: string): boolean {
  return isMarked(file) || existsSync(copyOf(file));
}

/**
 * Opens a file that no other connection has open, and keeps others from opening it. SQLite then reads the log from its
 * beginning, by its checksums, and drops what comes after a page that the kernel has lost: nobody was told of that commit.
 */
function openAlone(file: string): Client.Database {
  const client = new Client(file, { fileMustExist: true, timeout: 0 });
  try {
    client.pragma("locking_mode = EXCLUSIVE");
    client.exec("BEGIN EXCLUSIVE");
    client.exec("COMMIT");
    return client;
  } catch (error) {
    if (String((error as { code?: unknown }).code).startsWith("SQLITE_BUSY")) {
      client.close(); // it has not opened the log
      throw syncFailed(file, new Error("other processes have it open"));
    }
    abandon(client);
    throw copyFailed(file, error as Error);
  }
}

function copy(client: Client.Database, file: string): void {
  const draft = `${copyOf(file)}.partial`;
  const removeDraft = () => {
    for (const suffix of ["", "-journal"]) rmSync(`${draft}${suffix}`, { force: true });
  };
  removeDraft();
  requireRoom(client, file);
  try {
    writeFileSync(draft, "", { flag: "wx" });
    makeLike(file, draft);
    client.pragma("synchronous = OFF"); // it may ignore a sync that fails, and then the next one succeeds
    client.prepare("VACUUM INTO ?").run(draft);
    syncFile(draft);
    renameSync(draft, copyOf(file));
    syncFile(dirname(file));
  } catch (error) {
    removeDraft();
    const { code } = rootCause(error) as { code?: unknown };
    throw code === "SQLITE_FULL" || code === "ENOSPC" ? needsRoom(client, file) : error;
  }
}

/** The former log goes first: it would be copied into any database of its name. */
function replace(file: string): void {
  for (const suffix of ["-wal", "-shm"]) rmSync(`${file}${suffix}`, { force: true });
  syncFile(dirname(file));
  renameSync(copyOf(file), file);
  syncFile(dirname(file));
  replaceMark(file);
}

function requireRoom(client: Client.Database, file: string): void {
  const { bavail, bsize } = statfsSync(dirname(file));
  if (bavail * bsize < measureContent(client)) throw needsRoom(client, file);
}

/** A copy has no free pages. */
function measureContent(client: Client.Database): number {
  const [pages, free, pageSize] = ["page_count", "freelist_count", "page_size"].map((name) =>
    Number(client.pragma(name, { simple: true })),
  ) as [number, number, number];
  return (pages - free) * pageSize;
}

function needsRoom(client: Client.Database, file: string): NeedsRoom {
  const megabytes = Math.ceil(measureContent(client) / 2 ** 20).toLocaleString("en");
  return new NeedsRoom(
    `A sync of ${file} failed, and it has to be copied before anything is written. The copy needs ${megabytes} MB in the same folder: make room there, and start again`,
  );
}

function copyFailed(file: string, cause: Error): CopyFailed {
  return new CopyFailed(
    `A sync of ${file} failed, and it cannot be copied (${cause.message}). Look at the disk, and at the log of the kernel`,
    { cause },
  );
}
