import { existsSync, linkSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import Client from "better-sqlite3";
import { minuteMs } from "../../durations.ts";
import { Refusal } from "../../refusal.ts";
import { closeOrAbandon } from "./abandon.ts";
import { isDamage, isLocked, setAside, syncFile } from "./set-aside.ts";
import { requireSound } from "./soundness.ts";
import { isMarked } from "./sync-mark.ts";

/** A step takes about a millisecond. */
const pagesInStep = 256;
const lockWaitMs = minuteMs;
const ownerOnly = 0o600;

/** @param done between 0 and 1 */
type OnProgress = (done: number) => void;

/**
 * Copies a SQLite database into a new file while processes write to it. The copy has all that was committed before the
 * call. Writers go on; the write-ahead log grows meanwhile.
 * @returns the bytes of the copy
 * @throws Refusal
 */
export async function backUpSqlite(file: string, target: string, onProgress: OnProgress): Promise<number> {
  if (!existsSync(file)) throw new Refusal(404, `There is no database ${file}`);
  if (existsSync(target)) throw overwrites(target);
  const draft = `${target}.${process.pid}.partial`;
  try {
    writeFileSync(draft, "", { flag: "wx", mode: ownerOnly });
    await copySnapshot(file, draft, onProgress);
    checkCopy(draft);
    syncFile(draft);
    linkSync(draft, target); // unlike a rename, it overwrites nothing
    syncFile(dirname(target));
    return statSync(target).size;
  } catch (error) {
    if (error instanceof Refusal) throw error;
    if ((error as NodeJS.ErrnoException).code === "EEXIST") throw overwrites(target);
    throw new Refusal(503, `${target} cannot be written: ${(error as Error).message}`);
  } finally {
    for (const suffix of ["", "-journal"]) rmSync(`${draft}${suffix}`, { force: true });
  }
}

interface Restoring {
  /** True allows a database that has organizations, or cannot be read. */
  replaces: boolean;
  onProgress: OnProgress;
  /** Throws unless a backup with these shared values may be used. */
  requireUsable: (findSharedValue: (name: string) => string | undefined) => void;
}

/**
 * Puts a backup in the place of a SQLite database, in one transaction: a full disk or a killed process leaves the former
 * content.
 * @returns the name that an unreadable database was given; undefined: there was none
 * @throws Refusal
 */
export async function restoreSqlite(
  backup: string,
  file: string,
  options: Restoring,
): Promise<string | undefined> {
  if (!existsSync(backup)) throw new Refusal(404, `There is no file ${backup}`);
  const source = open(backup, { readonly: true });
  try {
    options.requireUsable((name) => findSharedValue(source, name));
    requireSound(source, backup);
    const isNew = !existsSync(file);
    if (isNew) makeFile(file);
    try {
      if (isMarked(file)) return await replaceUnreadable(source, file, options);
      await replaceContent(source, file, options);
      return undefined;
    } catch (error) {
      if (isDamage(error)) return await replaceUnreadable(source, file, options);
      if (isNew) for (const suffix of ["", "-sync"]) rmSync(`${file}${suffix}`, { force: true });
      throw error;
    }
  } finally {
    source.close();
  }
}

/** Copies inside a read transaction: without it the copy starts over whenever another process writes. */
async function copySnapshot(file: string, draft: string, onProgress: OnProgress): Promise<void> {
  const source = open(file, { fileMustExist: true });
  try {
    source.exec("BEGIN; SELECT 1 FROM sqlite_schema");
    await copy(source, draft, onProgress);
  } finally {
    closeOrAbandon(source, file);
  }
}

/** Also makes it one file, without a write-ahead log. */
function checkCopy(draft: string): void {
  const client = open(draft, { fileMustExist: true });
  try {
    client.pragma("journal_mode = DELETE");
    requireSound(client, draft);
  } finally {
    client.close();
  }
}

async function replaceContent(
  source: Client.Database,
  file: string,
  { replaces, onProgress }: Restoring,
): Promise<void> {
  const present = new Client(file, { fileMustExist: true });
  try {
    requireUnused(present, file);
    if (!replaces && hasOrganizations(present)) {
      throw new Refusal(409, `The database ${file} has organizations: add --replace to lose them`);
    }
    const version = present.pragma("data_version", { simple: true });
    await copy(source, file, onProgress);
    if (present.pragma("data_version", { simple: true }) === version) throw inUse(file);
    requireUnused(present, file);
  } catch (error) {
    if (error instanceof Refusal || isDamage(error)) throw error;
    throw unwritable(file, error);
  } finally {
    closeOrAbandon(present, file);
  }
}

function findSharedValue(source: Client.Database, name: string): string | undefined {
  try {
    return source.prepare<[string], string>("SELECT value FROM settings WHERE name = ?").pluck().get(name);
  } catch {
    return undefined; // damaged, or of another program: the check of the whole file says so
  }
}

/** Keeps the unreadable file: parts of it may be worth something. */
async function replaceUnreadable(
  source: Client.Database,
  file: string,
  { replaces, onProgress }: Restoring,
): Promise<string> {
  if (!replaces)
    throw new Refusal(
      409,
      `${file} is damaged, no SQLite database, or a sync of it failed: add --replace to set it aside`,
    );
  if (isLocked(file)) throw inUse(file);
  const draft = `${file}.${process.pid}.partial`;
  try {
    writeFileSync(draft, "", { flag: "wx", mode: ownerOnly });
    await copy(source, draft, onProgress);
    syncFile(draft);
    const aside = setAside(file, draft);
    syncFile(dirname(file));
    return aside;
  } catch (error) {
    throw error instanceof Refusal ? error : unwritable(file, error);
  } finally {
    for (const suffix of ["", "-journal"]) rmSync(`${draft}${suffix}`, { force: true });
  }
}

/** Every process has a lock on a database with a write-ahead log. Only a process without others can end that log. */
function requireUnused(client: Client.Database, file: string): void {
  try {
    client.pragma("busy_timeout = 0");
    client.pragma("journal_mode = DELETE");
  } catch (error) {
    if (String((error as { code?: unknown }).code).startsWith("SQLITE_BUSY")) throw inUse(file);
    throw error;
  }
}

function hasOrganizations(client: Client.Database): boolean {
  const table = client.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'organizations'").get();
  return table !== undefined && client.prepare("SELECT 1 FROM organizations LIMIT 1").get() !== undefined;
}

/** The library would report a locked target as copied, or retry forever. */
async function copy(source: Client.Database, target: string, onProgress: OnProgress): Promise<void> {
  let last = Number.POSITIVE_INFINITY;
  let lastAt = performance.now();
  const { totalPages } = await source.backup(target, {
    progress({ totalPages, remainingPages }) {
      if (remainingPages < last) [last, lastAt] = [remainingPages, performance.now()];
      else if (performance.now() - lastAt > lockWaitMs) throw inUse(target);
      onProgress(1 - remainingPages / totalPages);
      return pagesInStep;
    },
  });
  if (totalPages === 0) throw inUse(target);
  onProgress(1);
}

function open(file: string, options: Client.Options): Client.Database {
  try {
    const client = new Client(file, options);
    client.pragma("schema_version"); // reads the file
    return client;
  } catch (error) {
    throw new Refusal(422, `${file} cannot be opened as a SQLite database: ${(error as Error).message}`);
  }
}

function makeFile(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, "", { mode: ownerOnly });
}

function unwritable(file: string, error: unknown): Refusal {
  return new Refusal(503, `${file} is as it was, because it cannot be written: ${(error as Error).message}`);
}

function overwrites(target: string): Refusal {
  return new Refusal(409, `${target} exists already: name another file`);
}

function inUse(file: string): Refusal {
  return new Refusal(409, `Processes use ${file}: stop all of them, other admin commands included`);
}
