import { and, desc, eq, gte, inArray, lt, notInArray } from "drizzle-orm";
import type { Db, Tx } from "../../db/database.ts";
import { deleteRows, findRow } from "../../db/rows.ts";
import type { Tables } from "../../db/schema.ts";

export type RefusedRequest = Tables["refusedRequests"]["$inferSelect"];

/** The limit of a trigger and cause. */
const maxStored = 10;

/** Stores a request, and deletes all but the latest ten of its trigger and cause. */
export async function addRefusedRequest(tx: Tx, request: RefusedRequest): Promise<void> {
  const { refusedRequests } = tx.tables;
  const { id, triggerId, cause } = refusedRequests;
  await tx.insert(refusedRequests).values(request);
  const isAlike = and(eq(triggerId, request.triggerId), eq(cause, request.cause));
  const latest = await tx
    .select({ id })
    .from(refusedRequests)
    .where(isAlike)
    .orderBy(desc(id))
    .limit(maxStored);
  await tx.delete(refusedRequests).where(
    and(
      isAlike,
      notInArray(
        id,
        latest.map((row) => row.id),
      ),
    ),
  );
}

/** Newest first, without headers and bodies. */
export async function listRefusedRequests(db: Db, trigger: string, since: Date, limit: number) {
  const { refusedRequests } = db.tables;
  const { id, triggerId, cause, receivedAt, network } = refusedRequests;
  return db
    .select({ id, cause, receivedAt, network })
    .from(refusedRequests)
    .where(and(eq(triggerId, trigger), gte(receivedAt, since)))
    .orderBy(desc(receivedAt), desc(id))
    .limit(limit);
}

/** Returns when the last request of each trigger was refused that a sample is kept of, by trigger id. */
export async function listLastRefused(db: Db, triggerIds: string[]): Promise<Map<string, Date>> {
  const { refusedRequests, triggers } = db.tables;
  const { id, triggerId, receivedAt } = refusedRequests;
  const last = db
    .select({ id })
    .from(refusedRequests)
    .where(eq(triggerId, triggers.id))
    .orderBy(desc(receivedAt), desc(id))
    .limit(1);
  const rows = await db
    .select({ triggerId, receivedAt })
    .from(triggers)
    .innerJoin(refusedRequests, eq(id, last))
    .where(inArray(triggers.id, triggerIds));
  return new Map(rows.map((row) => [row.triggerId, row.receivedAt]));
}

export function findRefusedRequest(
  db: Db,
  triggerId: string,
  id: string,
): Promise<RefusedRequest | undefined> {
  const { refusedRequests } = db.tables;
  return findRow(
    db,
    refusedRequests,
    and(eq(refusedRequests.id, id), eq(refusedRequests.triggerId, triggerId)),
  );
}

export function deleteRefusedRequestsBefore(tx: Tx, time: Date, limit: number): Promise<number> {
  const { id, receivedAt } = tx.tables.refusedRequests;
  return deleteRows(tx, { key: id, where: lt(receivedAt, time), oldestBy: receivedAt }, limit);
}
