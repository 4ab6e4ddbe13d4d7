import { and, asc, eq, gte, isNull, lte, not, or, sql } from "drizzle-orm";
import type { Tx } from "../../db/database.ts";
import { isOneOf, prepared, valueFor } from "../../db/prepared.ts";
import type { Delivery } from "../deliveries/store.ts";

/**
 * Finds the first waiting delivery of each webhook of a provider among these triggers, beside the given ones. Of those that
 * came before `from`, it looks at deliveries that are due.
 */
export const listFirstOfProviders = prepared<
  { triggerIds: string[]; besides: string[]; from: string; now: Date },
  { triggerId: string; first: string | null },
  Tx
>((tx) => {
  const { deliveries, triggers } = tx.tables;
  const { id, triggerId, status, dueAt } = deliveries;
  const isRecent = or(gte(id, sql.placeholder("from")), lte(dueAt, valueFor(dueAt, "now")));
  const waits = and(eq(triggerId, triggers.id), isNull(status), isRecent, not(isOneOf(id, "besides")));
  // Postgres takes an index for the order that names all of its columns.
  const first = tx.select({ id }).from(deliveries).where(waits).orderBy(asc(status), asc(id)).limit(1);
  return tx
    .select({ triggerId: triggers.id, first: sql<string | null>`(${first})`.mapWith(id) })
    .from(triggers)
    .where(and(isOneOf(triggers.id, "triggerIds"), eq(triggers.isProvider, true)));
});

/** Locks waiting deliveries that are due. Leaves out those that another process has locked. */
export const lockIfDue = prepared<{ ids: string[]; isFiltered: boolean; now: Date }, Delivery, Tx>((tx) => {
  const { deliveries } = tx.tables;
  const { id, status, isFiltered, dueAt } = deliveries;
  const isDue = and(
    isNull(status),
    eq(isFiltered, valueFor(isFiltered, "isFiltered")),
    lte(dueAt, valueFor(dueAt, "now")),
  );
  return tx.lock(deliveries, and(isOneOf(id, "ids"), isDue), "if-free");
});
