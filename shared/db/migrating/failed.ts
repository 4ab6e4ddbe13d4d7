import { rootCause } from "../database.ts";
import { describeProblem, explainProblem, findProblem } from "../health/problem.ts";

/** Why a migration stopped, and what to do. Its cause is the first error. */
export class MigrationFailed extends Error {
  override readonly name = "MigrationFailed";
}

const again = "Run it again: it goes on where it stopped. The former version works meanwhile";
const constraints = /^(23|SQLITE_CONSTRAINT)/;

/** Returns the first cause, with its table if the database names it, and what to do. */
export function failure(error: unknown, during: string, databaseUrl: string): MigrationFailed {
  if (error instanceof MigrationFailed) return error;
  const cause = rootCause(error) as { message?: string; code?: string; detail?: string; table?: string };
  const problem = findProblem(error, databaseUrl);
  const isOfRows = constraints.test(String(cause?.code));
  const sentences = [
    `${during}: ${cause?.message || cause?.code || String(cause)}`,
    cause?.table && `Table: ${cause.table}`,
    cause?.detail,
    problem && describeProblem(problem),
    isOfRows && "Correct the rows that the message names",
    again,
  ];
  const text = sentences.filter((each) => each).map((each) => `${each}`.replace(/\.?$/, "."));
  return new MigrationFailed(text.join(" "), { cause });
}

/** Names the migration that stopped, too. */
export function failureOf(tag: string, error: unknown, databaseUrl: string): MigrationFailed {
  if (!(error instanceof MigrationFailed)) return failure(error, tag, databaseUrl);
  return new MigrationFailed(`${tag}: ${error.message}`, { cause: error.cause });
}

/** Nothing was migrated: the database could not be used at all. */
export function neverBegun(error: unknown, databaseUrl: string): unknown {
  const problem = findProblem(error, databaseUrl);
  if (!problem || error instanceof MigrationFailed) return error;
  return new MigrationFailed(`${explainProblem(problem)}.`, { cause: rootCause(error) });
}

/** The first line of a statement, for messages. */
export function firstLine(text: string): string {
  const line = text.split("\n")[0] ?? "";
  return line.length > 120 ? `${line.slice(0, 117)}…` : line;
}
