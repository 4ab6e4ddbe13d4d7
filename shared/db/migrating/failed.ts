import { rootCause, SyncFailed } from "../database.ts";

/** Why a migration stopped, and what to do. Its cause is the first error. */
export class MigrationFailed extends Error {
  override readonly name = "MigrationFailed";
}

const again = "Run it again: it goes on where it stopped. The former version works meanwhile.";
const advice: [RegExp, string][] = [
  [/^(55P03|40P01|40001|SQLITE_BUSY)/, `Others keep the table locked. ${again}`],
  [/^(53100|SQLITE_FULL)/, `Make room on the database's disk. ${again}`],
  [/^(25006|SQLITE_READONLY)/, "The database is read-only: migrate where it can be written."],
  [/^42501/, "The database's user must own its tables: migrate as their owner."],
  [/^(28|3D000|ECONN|ENOTFOUND|EAI_AGAIN)/, "Check DATABASE_URL, and that the database runs."],
  [/^(23|SQLITE_CONSTRAINT)/, `Correct the rows that the message names. ${again}`],
];

/** Returns the first cause, with its table if the database names it, and what to do. */
export function failure(error: unknown, during: string): MigrationFailed {
  if (error instanceof MigrationFailed) return error;
  if (error instanceof SyncFailed) return new MigrationFailed(`${during}: ${error.message}. ${again}`);
  const cause = rootCause(error) as { message?: string; code?: string; detail?: string; table?: string };
  const [, toDo = again] = advice.find(([pattern]) => pattern.test(String(cause?.code))) ?? [];
  const sentences = [
    `${during}: ${cause?.message || cause?.code || String(cause)}`,
    cause?.table && `Table: ${cause.table}`,
    cause?.detail,
    toDo,
  ];
  const text = sentences.filter((each) => each).map((each) => `${each}`.replace(/\.?$/, "."));
  return new MigrationFailed(text.join(" "), { cause });
}
