import { and, asc, desc, eq, gt, isNull, lte, or } from "drizzle-orm";
import type { Db, Tx } from "../db/database.ts";
import { deleteRows } from "../db/rows.ts";
import type { Tables } from "../db/schema.ts";

export type SigningKey = Tables["signingKeys"]["$inferSelect"];

/** Keys that are not retired, the one that was or will be active last first. */
export async function listShownKeys(db: Db | Tx, now: Date): Promise<SigningKey[]> {
  const { signingKeys } = db.tables;
  return db
    .select()
    .from(signingKeys)
    .where(isShown(db, now))
    .orderBy(desc(signingKeys.activeAt), asc(signingKeys.id));
}

/** Returns false if there is a newest key already. */
export async function insertIfNoneIsNewest(tx: Tx, key: SigningKey): Promise<boolean> {
  const inserted = await tx.insert(tx.tables.signingKeys).values(key).onConflictDoNothing().returning();
  return inserted.length > 0;
}

/** Retires the newest key, unless it is not active yet. */
export async function retireNewestIfActive(tx: Tx, now: Date, retiresAt: Date): Promise<void> {
  const { signingKeys } = tx.tables;
  await tx
    .update(signingKeys)
    .set({ isNewest: false, retiresAt })
    .where(and(eq(signingKeys.isNewest, true), lte(signingKeys.activeAt, now)));
}

/** Retires all keys at once. */
export async function retireAll(tx: Tx, now: Date): Promise<void> {
  await tx.update(tx.tables.signingKeys).set({ isNewest: false, retiresAt: now }).where(isShown(tx, now));
}

/** Deletes keys that were retired before the time. */
export function deleteRetiredBefore(tx: Tx, time: Date, limit: number): Promise<number> {
  const { signingKeys } = tx.tables;
  return deleteRows(tx, { key: signingKeys.id, where: lte(signingKeys.retiresAt, time) }, limit);
}

function isShown({ tables: { signingKeys } }: Db | Tx, now: Date) {
  return or(isNull(signingKeys.retiresAt), gt(signingKeys.retiresAt, now));
}
