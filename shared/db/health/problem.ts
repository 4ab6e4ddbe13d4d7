import { accessSync, constants, statfsSync, utimesSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseUnavailable, rootCause, SyncFailed } from "../database.ts";
import { isSqliteUrl, sqliteFile } from "../open.ts";
import { type FaultState, findFault } from "./faults.ts";
import { postgresTexts, type Text, textsOf } from "./texts.ts";

/** A fault of the database in the words of operators. */
export interface DatabaseProblem extends Text {
  state: FaultState;
  /** The words of the database. They may name roles, hosts and tables. */
  cause: string;
  /** False: the next call may succeed, and nobody has to do anything. */
  lasts: boolean;
}

/** Returns undefined for an error that is none of the database. */
export function findProblem(error: unknown, databaseUrl: string): DatabaseProblem | undefined {
  const root = rootCause(error);
  const fault = findFault(root, { ofFile: error instanceof DatabaseUnavailable || isOfSystem(error) });
  const state = error instanceof SyncFailed ? "unsynced" : fault?.state;
  if (!state && !(error instanceof DatabaseUnavailable)) return undefined;
  const lasts = state === "unsynced" || (fault !== undefined && !fault.passes);
  return { ...describe(state ?? "unavailable", databaseUrl), cause: wordsOf(root), lasts };
}

/** A sentence for everybody who may ask. */
export function describeProblem({ found, fix }: DatabaseProblem): string {
  return `${found}: ${fix}`;
}

/** A sentence for operators: it has the words of the database, too. */
export function explainProblem({ found, fix, cause }: DatabaseProblem): string {
  return `${found} (${cause}): ${fix}`;
}

export function lockedProblem(databaseUrl: string): DatabaseProblem {
  return { ...describe("locked", databaseUrl), cause: "no answer", lasts: true };
}

/** The words of the driver for a server that asks for a password, when there is none. */
const noPassword = /^SASL: .*client password must be/;

/** Some errors of connections have only a code. */
function wordsOf(root: unknown): string {
  const { message, code } = root as NodeJS.ErrnoException;
  if (noPassword.test(message)) return "it asks for a password, and there is none";
  return (message || code || String(root)).replace(/\.$/, "");
}

function isOfSystem(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | undefined)?.syscall !== undefined;
}

function describe(state: FaultState, databaseUrl: string): Text & { state: FaultState } {
  if (!isSqliteUrl(databaseUrl)) return { state, ...postgresTexts[state] };
  const file = sqliteFile(databaseUrl);
  const seen = statesOfDisk.includes(state) ? lookAt(file, state) : state;
  return { state: seen, ...textsOf(file)[seen] };
}

const statesOfDisk: readonly FaultState[] = ["read-only", "failing", "forbidden", "unsynced"];

/** SQLite's codes do not tell a disk that fails from a file system that is full or read-only. */
function lookAt(file: string, otherwise: FaultState): FaultState {
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
