import { and, asc, eq, gte, isNull, lte, sql } from "drizzle-orm";
import type { Tx } from "../../db/database.ts";
import { isOneOf, prepared, valueFor } from "../../db/prepared.ts";
import type { Delivery } from "../deliveries/store.ts";

/**
 * Finds the first waiting delivery of each webhook of a provider among these triggers. Leaves out deliveries that came
 * before an id.
 */
export const listFirstOfProviders = prepared<
  { triggerIds: string[]; from: string },
  { triggerId: string; first: string | null },
  Tx
>((tx) => {
  const { deliveries, triggers } = tx.tables;
  const { id, triggerId, status } = deliveries;
  const waits = and(eq(triggerId, triggers.id), isNull(status), gte(id, sql.placeholder("from")));
  const first = tx.select({ id }).from(deliveries).where(waits).orderBy(asc(id)).limit(1);
  return tx
    .select({ triggerId: triggers.id, first: sql<string | null>`(${first})`.mapWith(id) })
    .from(triggers)
    .where(and(isOneOf(triggers.id, "triggerIds"), eq(triggers.isProvider, true)));
});

/** Locks deliveries that wait for their filter, or to be read, and are due. Leaves out those that another process has locked. */
export const lockIfDue = prepared<{ ids: string[]; now: Date }, Delivery, Tx>((tx) => {
  const { deliveries } = tx.tables;
  const { id, status, isFiltered, dueAt } = deliveries;
  const isDue = and(isNull(status), eq(isFiltered, true), lte(dueAt, valueFor(dueAt, "now")));
  return tx.lock(deliveries, and(isOneOf(id, "ids"), isDue), "if-free");
});
