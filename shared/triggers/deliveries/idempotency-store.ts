import { and, eq, inArray, lt, lte, sql } from "drizzle-orm";
import type { Db, Tx } from "../../db/database.ts";
import { prepared, preparedRow, valueFor } from "../../db/prepared.ts";
import { deleteRows } from "../../db/rows.ts";
import type { Tables } from "../../db/schema.ts";

type IdempotencyKey = Tables["idempotencyKeys"]["$inferSelect"];

const selectIdempotencyKey = preparedRow<{ triggerId: string; key: string }, IdempotencyKey>((db) => {
  const { idempotencyKeys } = db.tables;
  const isOfTrigger = eq(idempotencyKeys.triggerId, sql.placeholder("triggerId"));
  return db
    .select()
    .from(idempotencyKeys)
    .where(and(isOfTrigger, eq(idempotencyKeys.key, sql.placeholder("key"))));
});

export function findIdempotencyKey(
  db: Db | Tx,
  triggerId: string,
  key: string,
): Promise<IdempotencyKey | undefined> {
  return selectIdempotencyKey(db, { triggerId, key });
}

const upsertKeyIfFree = prepared<IdempotencyKey & { freeSince: Date }, Pick<IdempotencyKey, "key">, Tx>(
  (tx) => {
    const { idempotencyKeys } = tx.tables;
    const deliveryId = sql.placeholder("deliveryId");
    const createdAt = valueFor(idempotencyKeys.createdAt, "createdAt");
    return tx
      .insert(idempotencyKeys)
      .values({ triggerId: sql.placeholder("triggerId"), key: sql.placeholder("key"), deliveryId, createdAt })
      .onConflictDoUpdate({
        target: [idempotencyKeys.triggerId, idempotencyKeys.key],
        set: { deliveryId: sql`${deliveryId}`, createdAt },
        setWhere: lte(idempotencyKeys.createdAt, valueFor(idempotencyKeys.createdAt, "freeSince")),
      })
      .returning({ key: idempotencyKeys.key });
  },
);

/** Exactly one of concurrent calls succeeds. */
export async function takeKeyIfFree(tx: Tx, row: IdempotencyKey, freeSince: Date): Promise<boolean> {
  const taken = await upsertKeyIfFree(tx, { ...row, freeSince });
  return taken.length > 0;
}

/** Lets keys name another delivery. */
export async function moveKeys(
  tx: Tx,
  { triggerId, keys, deliveryId }: { triggerId: string; keys: string[]; deliveryId: string },
): Promise<void> {
  const { idempotencyKeys } = tx.tables;
  if (keys.length === 0) return;
  const isOfThese = and(eq(idempotencyKeys.triggerId, triggerId), inArray(idempotencyKeys.key, keys));
  await tx.update(idempotencyKeys).set({ deliveryId }).where(isOfThese);
}

/** `limit` counts distinct times, not keys. @returns the number deleted */
export function deleteIdempotencyKeysBefore(tx: Tx, time: Date, limit: number): Promise<number> {
  const { createdAt } = tx.tables.idempotencyKeys;
  return deleteRows(tx, { key: createdAt, where: lt(createdAt, time), oldestBy: createdAt }, limit);
}
