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
import { findRow } from "../../db/rows.ts";
import type { Tables } from "../../db/schema.ts";
import { lowestIdAt } from "../../ids.ts";
import type { DeliveryStatus } from "../../vocabulary.ts";
import { deleteWordsOfDeliveries } from "../../words/store.ts";

export type Delivery = Tables["deliveries"]["$inferSelect"];

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
      size,
      equal: rest,
      limit,
      select,
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
  await deleteWordsOfDeliveries(tx, ids);
  const gone = await tx
    .delete(deliveries)
    .where(inArray(deliveries.id, ids))
    .returning({ id: deliveries.id });
  return gone.length;
}
