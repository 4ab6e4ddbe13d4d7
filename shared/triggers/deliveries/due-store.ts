import { and, asc, count, eq, gt, inArray, isNotNull, isNull, lte, or, sql } from "drizzle-orm";
import type { Db, Tx } from "../../db/database.ts";
import { isOneOf, isPostgres, prepared, preparedRow, valueFor } from "../../db/prepared.ts";
import type { Tables } from "../../db/schema.ts";
import { lowestIdAt, timeOfId } from "../../ids.ts";
import type { DeliveryReason, DeliveryStatus } from "../../vocabulary.ts";
import type { Delivery } from "./store.ts";

export interface FilteredDelivery {
  delivery: Pick<Delivery, "id" | "triggerId" | "receivedAt" | "size" | "event">;
  triggerType: string;
  /** Its event is read; else its filter is evaluated. */
  isProvider: boolean;
  filter: string | null;
  /** The misses of this filter. */
  misses: Tables["filterMisses"]["$inferSelect"] | null;
}

/** Leaves out decided deliveries, and triggers that are no provider's and have no filter. */
export const listFilteredDeliveries = prepared<{ ids: string[] }, FilteredDelivery>((db) => {
  const { deliveries, triggers, filterMisses } = db.tables;
  const { id, triggerId, receivedAt, size, event } = deliveries;
  const isDecidedLater = or(isNotNull(triggers.filter), eq(triggers.isProvider, true));
  const isOfFilter = and(eq(filterMisses.triggerId, triggers.id), eq(filterMisses.filter, triggers.filter));
  return db
    .select({
      delivery: { id, triggerId, receivedAt, size, event },
      triggerType: triggers.type,
      isProvider: triggers.isProvider,
      filter: triggers.filter,
      misses: filterMisses,
    })
    .from(deliveries)
    .innerJoin(triggers, eq(triggers.id, deliveries.triggerId))
    .leftJoin(filterMisses, isOfFilter)
    .where(and(isOneOf(deliveries.id, "ids"), isNull(deliveries.status), isDecidedLater));
});

/** waiting → build_created. Returns the deliveries that it decided. */
export const decideIfWaiting = prepared<{ ids: string[] }, Pick<Delivery, "id" | "triggerId">, Tx>((tx) => {
  const { deliveries } = tx.tables;
  return tx
    .update(deliveries)
    .set({ status: "build_created" })
    .where(and(isOneOf(deliveries.id, "ids"), isNull(deliveries.status)))
    .returning({ id: deliveries.id, triggerId: deliveries.triggerId });
});

/** Call it for deliveries that `decideIfWaiting` returned. */
export async function setOutcome(
  tx: Tx,
  ids: string[],
  outcome: { status: DeliveryStatus; reason: DeliveryReason },
): Promise<void> {
  await tx.update(tx.tables.deliveries).set(outcome).where(inArray(tx.tables.deliveries.id, ids));
}

/** Looks at `limit` waiting deliveries. */
export async function findWaiting(
  db: Db,
  limit: number,
): Promise<{ total: number; receivedAt: Date | undefined }> {
  const { deliveries } = db.tables;
  const waiting = db.offLoop
    .select({ id: deliveries.id })
    .from(deliveries)
    .where(isNull(deliveries.status))
    .orderBy(asc(deliveries.isFiltered), asc(deliveries.organizationId))
    .limit(limit)
    .as("waiting");
  // Postgres has no min() of ids. They sort as their text does.
  const oldest = sql<string | null>`min(cast(${waiting.id} as text))`;
  const [row] = await db.offLoop.select({ total: count(), oldest }).from(waiting);
  return { total: row?.total ?? 0, receivedAt: row?.oldest ? timeOfId(row.oldest) : undefined };
}

/** Waiting deliveries of an organization: either the deliveries that a filter decides, or all others. */
export interface WaitingOf {
  organizationId: string;
  isFiltered: boolean;
}

const selectNextWaiting = preparedRow<
  { after: string; isFiltered: boolean },
  Pick<Delivery, "organizationId" | "isFiltered" | "dueAt">
>((db) => {
  const { organizationId, isFiltered, status, dueAt } = db.tables.deliveries;
  const isBehind = gt(organizationId, sql.placeholder("after"));
  return db
    .select({ organizationId, isFiltered, dueAt })
    .from(db.tables.deliveries)
    .where(and(isNull(status), eq(isFiltered, valueFor(isFiltered, "isFiltered")), isBehind))
    .orderBy(asc(organizationId), asc(dueAt))
    .limit(1);
});

/** Finds the next organization that has such deliveries, and the time at which the first of them is due. */
export async function findNextWaiting(
  db: Db,
  { after = lowestIdAt(new Date(0)), isFiltered }: { after: string | undefined; isFiltered: boolean },
): Promise<(WaitingOf & { dueAt: Date }) | undefined> {
  const next = await selectNextWaiting(db, { after, isFiltered });
  return next?.organizationId ? { ...next, organizationId: next.organizationId } : undefined;
}

/** Locks the first due deliveries. Leaves out deliveries that another process has locked. */
export const lockDue = prepared<WaitingOf & { now: Date; limit: number }, Delivery, Tx>((tx) => {
  const { deliveries } = tx.tables;
  const isOfOwner = and(
    eq(deliveries.isFiltered, valueFor(deliveries.isFiltered, "isFiltered")),
    eq(deliveries.organizationId, sql.placeholder("organizationId")),
  );
  const isDue = and(
    isNull(deliveries.status),
    isOfOwner,
    lte(deliveries.dueAt, valueFor(deliveries.dueAt, "now")),
  );
  // SQLite keeps the order of insertion among equal times; to sort by ids it would read all of them.
  const inOrderOfArrival = isPostgres(deliveries.id)
    ? sql`${deliveries.dueAt}, ${deliveries.id}`
    : asc(deliveries.dueAt);
  return tx.lock(deliveries, isDue, "if-free", {
    orderBy: inOrderOfArrival,
    limit: sql.placeholder("limit"),
  });
});

/** Locks deliveries that wait. */
export const lockIfWaiting = prepared<{ ids: string[] }, Delivery, Tx>((tx) => {
  const { deliveries } = tx.tables;
  return tx.lock(deliveries, and(isOneOf(deliveries.id, "ids"), isNull(deliveries.status)), "exclusive");
});

const updateDue = prepared<{ ids: string[]; dueAt: Date }, { id: string }, Tx>((tx) => {
  const { deliveries } = tx.tables;
  return tx
    .update(deliveries)
    .set({ dueAt: valueFor(deliveries.dueAt, "dueAt") })
    .where(and(isOneOf(deliveries.id, "ids"), isNull(deliveries.status)))
    .returning({ id: deliveries.id });
});

/** Sets when waiting deliveries are due. */
export async function setDue(tx: Tx, change: { ids: string[]; dueAt: Date }): Promise<void> {
  if (change.ids.length > 0) await updateDue(tx, change);
}

/** Lets waiting deliveries wait for their filter. */
export async function waitForFilter(tx: Tx, ids: string[]): Promise<void> {
  const { deliveries } = tx.tables;
  if (ids.length === 0) return;
  await tx.update(deliveries).set({ isFiltered: true, dueAt: tx.now }).where(inArray(deliveries.id, ids));
}

/** Delays deliveries of a trigger whose filter backs off, which came after an id. @returns their number, at most `limit` */
export async function delayDue(
  tx: Tx,
  { triggerId, after, now, until }: { triggerId: string; after: string; now: Date; until: Date },
  limit: number,
): Promise<number> {
  const { deliveries } = tx.tables;
  const { id, isFiltered, status, dueAt } = deliveries;
  const isOfTrigger = and(eq(deliveries.triggerId, triggerId), isNull(status), gt(id, after));
  const these = tx
    .select({ id })
    .from(deliveries)
    .where(and(isOfTrigger, eq(isFiltered, true), lte(dueAt, now)))
    .limit(limit);
  const delayed = await tx
    .update(deliveries)
    .set({ dueAt: until })
    .where(inArray(id, these))
    .returning({ id });
  return delayed.length;
}

/** Makes deliveries due that a clock which was ahead made due after a time. @returns their number, at most `limit` */
export async function makeDueIfAfter(
  tx: Tx,
  { organizationId, isFiltered }: WaitingOf,
  { after, now }: { after: Date; now: Date },
  limit: number,
): Promise<number> {
  const { deliveries } = tx.tables;
  const isOfOwner = and(eq(deliveries.isFiltered, isFiltered), eq(deliveries.organizationId, organizationId));
  const these = tx
    .select({ id: deliveries.id })
    .from(deliveries)
    .where(and(isNull(deliveries.status), isOfOwner, gt(deliveries.dueAt, after)))
    .limit(limit);
  const changed = await tx
    .update(deliveries)
    .set({ dueAt: now })
    .where(inArray(deliveries.id, these))
    .returning({ id: deliveries.id });
  return changed.length;
}
