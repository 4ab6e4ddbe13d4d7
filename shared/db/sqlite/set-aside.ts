import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
} from "node:fs";
import { rootCause } from "../database.ts";
import { findFault } from "../health/faults.ts";

/** Returns true for an error of a file that is damaged, or no SQLite database. */
export function isDamage(error: unknown): boolean {
  return findFault(rootCause(error))?.state === "damaged";
}

/**
 * Puts a whole database in the place of an unreadable one, which gets a name of its own. The files beside it go first: their
 * log would be copied into any database of its name.
 * @returns the new name of the unreadable file
 */
export function setAside(file: string, whole: string): string {
  makeLike(file, whole);
  const aside = `${file}.unreadable-${new Date().toISOString().replaceAll(/\D/g, "")}`;
  for (const suffix of ["-wal", "-shm", "-journal", "-copy", "-sync", ""])
    if (existsSync(`${file}${suffix}`)) renameSync(`${file}${suffix}`, `${aside}${suffix}`);
  renameSync(whole, file);
  return aside;
}

/** Gives a file the rights and the owner of another. */
export function makeLike(file: string, other: string): void {
  const { mode, uid, gid } = statSync(file);
  chmodSync(other, mode & 0o777);
  if (process.getuid?.() === 0) chownSync(other, uid, gid);
}

/** Syncs a file or a folder. */
export function syncFile(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** SQLite's locks lie at this byte of the file and behind it. */
const firstLockedByte = 2 ** 30;
const lockedBytes = 512;

/** SQLite locks no file that it cannot read, so the kernel is asked. False: it does not say, as outside of Linux. */
export function isLocked(file: string): boolean {
  if (!existsSync("/proc/locks")) return false;
  const { ino } = statSync(file);
  return readFileSync("/proc/locks", "utf8")
    .split("\n")
    .some((line) => {
      const [, inode, start] = /:(\d+) (\d+) \S+$/.exec(line) ?? [];
      const offset = Number(start) - firstLockedByte;
      return Number(inode) === ino && offset >= 0 && offset < lockedBytes;
    });
}
