import { eq } from "drizzle-orm";
import type { Db, Tx } from "../db/database.ts";
import { findSharedValue, putSharedValue } from "../db/shared-values-store.ts";

export type Subject = "builds" | "deliveries";

/** The first and last id of those that have their words. */
export interface Filled {
  first: string;
  last: string;
}

const nameOf = (subject: Subject) => `words_of_${subject}`;

/** Undefined before the first run. */
export async function findFilled(db: Db, subject: Subject): Promise<Filled | undefined> {
  const value = await findSharedValue(db, nameOf(subject));
  return value === undefined ? undefined : JSON.parse(value);
}

/** Locked: one worker at a time. */
export async function lockFilled(tx: Tx, subject: Subject): Promise<Filled | undefined> {
  const { settings } = tx.tables;
  const [row] = await tx.lock(settings, eq(settings.name, nameOf(subject)), "exclusive");
  return row && JSON.parse(row.value);
}

export function putFilled(tx: Tx, subject: Subject, filled: Filled): Promise<void> {
  return putSharedValue(tx, nameOf(subject), JSON.stringify(filled));
}
