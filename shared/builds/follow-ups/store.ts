import { and, eq, gt, inArray, lt } from "drizzle-orm";
import type { Db, Tx } from "../../db/database.ts";
import { publishAfterCommit } from "../../db/transaction-guard.ts";
import { newIds } from "../../ids.ts";
import type { Due } from "../../process/due.ts";
import type { FollowUpKind } from "../../vocabulary.ts";

/** The most follow-ups of a subject that a transaction deletes. A worker does the others. */
const maxTaken = 1000;

/** Makes something due about subjects. The process does it right after the commit, or else a worker does. */
export async function insertFollowUps(tx: Tx, kind: FollowUpKind, subjectIds: string[]): Promise<void> {
  const ids = newIds(tx.now, subjectIds.length);
  const due = subjectIds.map((subjectId): Due => ({ kind, subjectId }));
  const rows = due.map((each, index) => ({ ...each, id: ids[index] as string, createdAt: tx.now }));
  await tx.insertMany(tx.tables.followUps, rows);
  publishAfterCommit(due);
}

/**
 * The follow-ups of a subject. Call it with the subject locked, before reading what decides, and delete what it returned
 * once all is done.
 */
export async function listFollowUps(tx: Tx, kind: FollowUpKind, subjectId: string): Promise<string[]> {
  const { followUps } = tx.tables;
  const found = await tx
    .select({ id: followUps.id })
    .from(followUps)
    .where(and(eq(followUps.kind, kind), eq(followUps.subjectId, subjectId)))
    .limit(maxTaken);
  return found.map(({ id }) => id);
}

export async function deleteFollowUps(tx: Tx, ids: string[]): Promise<void> {
  const { followUps } = tx.tables;
  await tx.delete(followUps).where(inArray(followUps.id, ids));
}

/**
 * Deletes the follow-ups of a subject, for the transaction that does them. Call it with the subject locked, before
 * reading what decides: each that is deleted was committed with its cause, which the later reads see.
 * @returns false if there is none
 */
export async function takeFollowUps(tx: Tx, kind: FollowUpKind, subjectId: string): Promise<boolean> {
  const { followUps } = tx.tables;
  const these = tx
    .select({ id: followUps.id })
    .from(followUps)
    .where(and(eq(followUps.kind, kind), eq(followUps.subjectId, subjectId)))
    .limit(maxTaken);
  const taken = await tx
    .delete(followUps)
    .where(inArray(followUps.id, these))
    .returning({ id: followUps.id });
  return taken.length > 0;
}

/** Lists follow-ups that no process has done in time. */
export async function listLeftOver(
  db: Db,
  { afterId, beforeId, limit }: { afterId?: string; beforeId: string; limit: number },
): Promise<(Due & { id: string })[]> {
  const { followUps } = db.tables;
  const { id, kind, subjectId } = followUps;
  return db
    .select({ id, kind, subjectId })
    .from(followUps)
    .where(and(lt(id, beforeId), afterId === undefined ? undefined : gt(id, afterId)))
    .orderBy(id)
    .limit(limit);
}
