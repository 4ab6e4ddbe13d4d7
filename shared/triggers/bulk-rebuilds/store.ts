import { and, desc, eq, isNull, lt } from "drizzle-orm";
import { type CursorPage, selectPage } from "../../db/cursor-page.ts";
import type { Db, Tx } from "../../db/database.ts";
import { deleteRows, findRow } from "../../db/rows.ts";
import type { Tables } from "../../db/schema.ts";

export type BulkRebuild = Tables["bulkRebuilds"]["$inferSelect"];

export function findBulkRebuild(
  db: Db | Tx,
  triggerId: string,
  id: string,
): Promise<BulkRebuild | undefined> {
  const { bulkRebuilds } = db.tables;
  return findRow(db, bulkRebuilds, and(eq(bulkRebuilds.id, id), eq(bulkRebuilds.triggerId, triggerId)));
}

export async function findLatestBulkRebuild(db: Db, triggerId: string): Promise<BulkRebuild | undefined> {
  const { bulkRebuilds } = db.tables;
  const [latest] = await db
    .select()
    .from(bulkRebuilds)
    .where(eq(bulkRebuilds.triggerId, triggerId))
    .orderBy(desc(bulkRebuilds.id))
    .limit(1);
  return latest;
}

export async function listBulkRebuildsPage(
  db: Db,
  triggerId: string,
  page: CursorPage,
): Promise<BulkRebuild[]> {
  const { bulkRebuilds } = db.tables;
  return selectPage(bulkRebuilds.id, page, ({ condition, order, limit }) =>
    db
      .select()
      .from(bulkRebuilds)
      .where(and(eq(bulkRebuilds.triggerId, triggerId), condition))
      .orderBy(order)
      .limit(limit),
  );
}

export async function listRunningOfOrganization(tx: Tx, organizationId: string) {
  const { bulkRebuilds } = tx.tables;
  return tx
    .select({ triggerId: bulkRebuilds.triggerId })
    .from(bulkRebuilds)
    .where(and(eq(bulkRebuilds.organizationId, organizationId), isNull(bulkRebuilds.finishedAt)));
}

/** Returns undefined if the id is taken. */
export async function insertIfFree(tx: Tx, row: BulkRebuild): Promise<BulkRebuild | undefined> {
  const [inserted] = await tx.insert(tx.tables.bulkRebuilds).values(row).onConflictDoNothing().returning();
  return inserted;
}

/** Locks it, so that two workers never build the same deliveries. */
export async function lockIfRunning(tx: Tx, id: string): Promise<BulkRebuild | undefined> {
  const { bulkRebuilds } = tx.tables;
  const isRunning = and(eq(bulkRebuilds.id, id), isNull(bulkRebuilds.finishedAt));
  return (await tx.lock(bulkRebuilds, isRunning, "exclusive"))[0];
}

/** Call it with the row locked. */
export async function setProgress(
  tx: Tx,
  id: string,
  progress: Partial<Pick<BulkRebuild, "position" | "built" | "skipped" | "failed" | "finishedAt">>,
): Promise<void> {
  const { bulkRebuilds } = tx.tables;
  await tx.update(bulkRebuilds).set(progress).where(eq(bulkRebuilds.id, id));
}

/** running → canceled */
export async function cancelIfRunning(tx: Tx, id: string, now: Date): Promise<BulkRebuild | undefined> {
  const { bulkRebuilds } = tx.tables;
  const [canceled] = await tx
    .update(bulkRebuilds)
    .set({ canceledAt: now, finishedAt: now })
    .where(and(eq(bulkRebuilds.id, id), isNull(bulkRebuilds.finishedAt)))
    .returning();
  return canceled;
}

export function deleteFinishedBefore(tx: Tx, time: Date, limit: number): Promise<number> {
  const { id, finishedAt } = tx.tables.bulkRebuilds;
  return deleteRows(tx, { key: id, where: lt(finishedAt, time), oldestBy: finishedAt }, limit);
}
