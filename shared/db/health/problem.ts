import { accessSync, constants, statfsSync, utimesSync } from "node:fs";
import { dirname } from "node:path";
import { rootCause, SyncFailed } from "../database.ts";
import { isSqliteUrl, sqliteFile } from "../open.ts";

/** Why nothing can be written. `locked`: a write has waited for long. */
export type WriteState = "full" | "read-only" | "failing" | "forbidden" | "unsynced" | "locked";

export interface WriteProblem {
  state: WriteState;
  found: string;
  /** Tells the operator what to do. */
  fix: string;
}

/** Finds the state by the code of SQLite, the system or Postgres. */
const statesByCode: [RegExp, WriteState][] = [
  [/^(SQLITE_FULL|ENOSPC|EDQUOT|53100)$/, "full"],
  [/^(SQLITE_READONLY|EROFS$|25006$)/, "read-only"],
  [/^(SQLITE_IOERR|EIO$|58030$)/, "failing"],
  [/^(SQLITE_CANTOPEN|SQLITE_PERM|SQLITE_AUTH|EACCES$|EPERM$|42501$)/, "forbidden"],
  [/^SQLITE_BUSY/, "locked"],
];

/** Returns undefined for an error that says nothing about the disk or the rights, such as a lost connection. */
export function findWriteProblem(error: unknown, databaseUrl: string): WriteProblem | undefined {
  const code = String((rootCause(error) as { code?: unknown } | undefined)?.code ?? "");
  const state =
    error instanceof SyncFailed ? "unsynced" : statesByCode.find(([codes]) => codes.test(code))?.[1];
  if (!state) return undefined;
  return isSqliteUrl(databaseUrl)
    ? describeSqlite(state, sqliteFile(databaseUrl))
    : { state, ...postgresProblems[state] };
}

/** A sentence for operators. */
export function describeWriteProblem({ found, fix }: WriteProblem): string {
  return `${found}: ${fix}`;
}

export function lockedProblem(databaseUrl: string): WriteProblem {
  return isSqliteUrl(databaseUrl)
    ? describeSqlite("locked", sqliteFile(databaseUrl))
    : { state: "locked", ...postgresProblems.locked };
}

type Text = Omit<WriteProblem, "state">;

const postgresProblems: Record<WriteState, Text> = {
  full: { found: "The disk of Postgres is full", fix: "make room there" },
  "read-only": {
    found: "Postgres is read-only",
    fix: "point DATABASE_URL to the primary, or look at its default_transaction_read_only",
  },
  failing: {
    found: "The disk of Postgres fails",
    fix: "look at its log, and at the log of the kernel there",
  },
  forbidden: {
    found: "The user of DATABASE_URL may not write to the tables of Postgres",
    fix: "grant it their ownership",
  },
  unsynced: { found: "A sync of Postgres failed", fix: "look at its log" },
  locked: { found: "Postgres does not finish a write", fix: "look at its disk, and at its locks" },
};

function describeSqlite(code: WriteState, file: string): WriteProblem {
  const state = code === "full" || code === "locked" ? code : lookAt(file, code);
  const texts: Record<WriteState, Text> = {
    full: { found: `The disk of ${file} is full`, fix: "make room there" },
    "read-only": {
      found: `The file system of ${file} is read-only`,
      fix: "look at the log of the kernel for why, and mount it for writing",
    },
    failing: {
      found: `The disk of ${file} fails to write`,
      fix: "look at the log of the kernel, and replace the disk if it names it",
    },
    forbidden: {
      found: `This process may not write to ${file}`,
      fix: "give its user the file, those beside it and the folder",
    },
    unsynced: {
      found: `A sync of ${file} failed, and nothing is written until its log is on disk again`,
      fix: "it tries each second; look at the room on the disk, and at the log of the kernel",
    },
    locked: {
      found: `A write to ${file} has waited for long`,
      fix: "look whether its disk answers, and which process keeps it locked",
    },
  };
  return { state, ...texts[state] };
}

/** SQLite's codes do not tell a disk that fails from a file system that is full or read-only. */
function lookAt(file: string, otherwise: WriteState): WriteState {
  try {
    const { bavail } = statfsSync(dirname(file));
    if (bavail === 0) return "full";
    for (const path of [dirname(file), file]) accessSync(path, constants.W_OK);
    // ext4 that found an error allows access, and refuses changes.
    utimesSync(`${file}-sync`, new Date(), new Date());
    return otherwise;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EROFS") return "read-only";
    return code === "EACCES" || code === "EPERM" ? "forbidden" : otherwise;
  }
}
