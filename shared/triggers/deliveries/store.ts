import {
  and,
  asc,
  count,
  desc,
  eq,
  gt,
  gte,
  inArray,
  isNotNull,
  isNull,
  lt,
  lte,
  type SQL,
  sql,
} from "drizzle-orm";
import {
  type CursorPage,
  columnsOfSlice,
  matchesInSlice,
  presentFilters,
  selectFromSlice,
  selectPage,
} from "../../db/cursor-page.ts";
import type { Db, Tx } from "../../db/database.ts";
import { isOneOf, isPostgres, prepared, preparedRow, valueFor } from "../../db/prepared.ts";
import { deleteRows, findRow } from "../../db/rows.ts";
import type { Tables } from "../../db/schema.ts";
import { lowestIdAt, timeOfId } from "../../ids.ts";
import type { DeliveryReason, DeliveryStatus } from "../../vocabulary.ts";

export type Delivery = Tables["deliveries"]["$inferSelect"];
type IdempotencyKey = Tables["idempotencyKeys"]["$inferSelect"];

export interface DeliveryFilter {
  id?: string | undefined;
  /** Waiting: not decided yet. */
  status?: DeliveryStatus | "waiting" | undefined;
  event?: string | undefined;
  externalId?: string | undefined;
  receivedFrom?: Date | undefined;
  receivedTo?: Date | undefined;
}

/** @throws Refusal 503 if it has to look at too many */
export async function listDeliveriesPage(
  db: Db,
  triggerId: string,
  page: CursorPage,
  filter: DeliveryFilter = {},
): Promise<Delivery[]> {
  const { deliveries } = db.tables;
  const { first, rest, size } = conditionsOf(db, filter);
  return selectPage(deliveries.id, page, ({ condition, order, limit }) => {
    const where = and(eq(deliveries.triggerId, triggerId), first, condition);
    const select = (condition: SQL | undefined) =>
      db.select().from(deliveries).where(condition).orderBy(order).limit(limit);
    if (rest.length === 0) return select(where);
    return selectFromSlice(deliveries.id, {
      slice: (columns) => db.select(columns).from(deliveries).where(where).orderBy(order),
      ...{ size, equal: rest, limit, select },
      refusal: "Too many deliveries to look through. Add an earliest and a latest time.",
    });
  });
}

/**
 * `first` has conditions that an index answers in the order of ids. `rest` has those that look at rows, at most `size`
 * of them. Without a status these come from the index alone, so there may be more.
 */
function conditionsOf(
  db: Pick<Db, "tables">,
  { id, status, event, externalId, receivedFrom, receivedTo }: DeliveryFilter,
) {
  const { deliveries } = db.tables;
  const hasStatus =
    status === "waiting" ? isNull(deliveries.status) : status && eq(deliveries.status, status);
  const first = and(
    id === undefined ? undefined : eq(deliveries.id, id),
    hasStatus || undefined,
    receivedFrom && gte(deliveries.id, lowestIdAt(receivedFrom)),
    receivedTo && lt(deliveries.id, lowestIdAt(new Date(receivedTo.getTime() + 1))),
  );
  const rest = presentFilters([
    [deliveries.externalId, externalId],
    [deliveries.event, event],
  ]);
  return { first, rest, size: status ? 2000 : 10_000 };
}

/**
 * Looks at the oldest deliveries that meet the indexed conditions, and counts those that meet all.
 * @param max deliveries that it looks at
 * @param last leaves out those after this one
 * @returns lastId: the newest that it looked at; isCut: it left some out
 */
export async function countMatches(
  db: Db,
  triggerId: string,
  filter: DeliveryFilter,
  { max, last }: { max: number; last?: string | undefined },
): Promise<{ total: number; lastId: string | undefined; isCut: boolean }> {
  const { deliveries } = db.tables;
  const { first, rest, size } = conditionsOf(db, filter);
  const bound = rest.length > 0 ? Math.min(size, max) : max;
  const slice = db.offLoop
    .select(columnsOfSlice(deliveries.id, rest))
    .from(deliveries)
    .where(and(eq(deliveries.triggerId, triggerId), first, last ? lte(deliveries.id, last) : undefined))
    .orderBy(asc(deliveries.id))
    .limit(bound + 1)
    .as("slice");
  const [row] = await db.offLoop
    .select({
      looked: count(),
      total: sql<number>`count(case when ${matchesInSlice(rest)} then 1 end)`.mapWith(Number),
      // Postgres has no max() of ids. They sort as their text does.
      lastId: sql<string | null>`max(cast(${sql.identifier("slice")}.id as text))`,
    })
    .from(slice);
  return { total: row?.total ?? 0, lastId: row?.lastId ?? undefined, isCut: (row?.looked ?? 0) > bound };
}

/** Oldest first. */
export async function listDeliveryIdsAfter(
  tx: Tx,
  triggerId: string,
  filter: DeliveryFilter,
  { after, last, limit }: { after: string | null; last: string; limit: number },
): Promise<string[]> {
  const { deliveries } = tx.tables;
  const { first, rest } = conditionsOf(tx, filter);
  const rows = await tx
    .select({ id: deliveries.id })
    .from(deliveries)
    .where(
      and(
        eq(deliveries.triggerId, triggerId),
        first,
        ...rest.map(([column, value]) => eq(column, value)),
        after === null ? undefined : gt(deliveries.id, after),
        lte(deliveries.id, last),
      ),
    )
    .orderBy(asc(deliveries.id))
    .limit(limit);
  return rows.map(({ id }) => id);
}

/** Returns the last delivery of each trigger, by trigger id. */
export async function listLastDeliveries(db: Db, triggerIds: string[]): Promise<Map<string, Delivery>> {
  const { deliveries, triggers } = db.tables;
  const last = db
    .select({ id: deliveries.id })
    .from(deliveries)
    .where(eq(deliveries.triggerId, triggers.id))
    .orderBy(desc(deliveries.id))
    .limit(1);
  const rows = await db
    .select({ delivery: deliveries })
    .from(triggers)
    .innerJoin(deliveries, eq(deliveries.id, last))
    .where(inArray(triggers.id, triggerIds));
  return new Map(rows.map(({ delivery }) => [delivery.triggerId, delivery]));
}

export function findDelivery(db: Db | Tx, triggerId: string, id: string): Promise<Delivery | undefined> {
  const { deliveries } = db.tables;
  return findRow(db, deliveries, and(eq(deliveries.id, id), eq(deliveries.triggerId, triggerId)));
}

/** Locked: rebuilds are numbered one at a time. */
export async function lockDelivery(tx: Tx, triggerId: string, id: string): Promise<Delivery | undefined> {
  const { deliveries } = tx.tables;
  const isOfTrigger = and(eq(deliveries.id, id), eq(deliveries.triggerId, triggerId));
  return (await tx.lock(deliveries, isOfTrigger, "exclusive"))[0];
}

export async function lockDeliveries(tx: Tx, ids: string[]): Promise<Delivery[]> {
  return tx.lock(tx.tables.deliveries, inArray(tx.tables.deliveries.id, ids), "exclusive");
}

export interface FilteredDelivery {
  delivery: Pick<Delivery, "id" | "triggerId" | "receivedAt" | "size">;
  filter: string | null;
  /** The misses of this filter. */
  misses: Tables["filterMisses"]["$inferSelect"] | null;
}

/** Leaves out decided deliveries and triggers without a filter. */
export const listFilteredDeliveries = prepared<{ ids: string[] }, FilteredDelivery>((db) => {
  const { deliveries, triggers, filterMisses } = db.tables;
  const { id, triggerId, receivedAt, size } = deliveries;
  const isOfFilter = and(eq(filterMisses.triggerId, triggers.id), eq(filterMisses.filter, triggers.filter));
  return db
    .select({
      delivery: { id, triggerId, receivedAt, size },
      filter: triggers.filter,
      misses: filterMisses,
    })
    .from(deliveries)
    .innerJoin(triggers, eq(triggers.id, deliveries.triggerId))
    .leftJoin(filterMisses, isOfFilter)
    .where(and(isOneOf(deliveries.id, "ids"), isNull(deliveries.status), isNotNull(triggers.filter)));
});

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
      .values({
        ...{ triggerId: sql.placeholder("triggerId"), key: sql.placeholder("key") },
        ...{ deliveryId, createdAt },
      })
      .onConflictDoUpdate({
        target: [idempotencyKeys.triggerId, idempotencyKeys.key],
        set: { deliveryId: sql`${deliveryId}`, createdAt },
        setWhere: lte(idempotencyKeys.createdAt, valueFor(idempotencyKeys.createdAt, "freeSince")),
      })
      .returning({ key: idempotencyKeys.key });
  },
);

/** Exactly one of concurrent claims succeeds. */
export async function claimKeyIfFree(tx: Tx, claim: IdempotencyKey, freeSince: Date): Promise<boolean> {
  const claimed = await upsertKeyIfFree(tx, { ...claim, freeSince });
  return claimed.length > 0;
}

/** Makes keys those of another delivery. */
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

/** Waiting deliveries of an organization: those that a filter decides, or the others. */
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

/** Locks those that are due, the first of them. Leaves out those that another process has locked. */
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

/** Spares waiting deliveries. */
export async function listDecidedBelow(tx: Tx, id: string, limit: number): Promise<string[]> {
  const { deliveries } = tx.tables;
  const rows = await tx
    .select({ id: deliveries.id })
    .from(deliveries)
    .where(and(lt(deliveries.id, id), isNotNull(deliveries.status)))
    .limit(limit);
  return rows.map((row) => row.id);
}

/** Delete their payloads first. @returns the number deleted */
export async function deleteDeliveries(tx: Tx, ids: string[]): Promise<number> {
  const { deliveries } = tx.tables;
  const gone = await tx
    .delete(deliveries)
    .where(inArray(deliveries.id, ids))
    .returning({ id: deliveries.id });
  return gone.length;
}
