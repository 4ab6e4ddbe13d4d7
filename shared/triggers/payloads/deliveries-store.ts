import { and, desc, eq, gte, inArray, isNull, lt, type SQL, sql } from "drizzle-orm";
import { type CursorPage, presentFilters, selectPage } from "../../db/cursor-page.ts";
import type { Db } from "../../db/database.ts";
import { isPostgres } from "../../db/prepared.ts";
import { lowestIdAt } from "../../ids.ts";
import { Refusal } from "../../refusal.ts";
import type { Delivery, DeliveryFilter } from "../deliveries/store.ts";

/** Deliveries that one page looks through for those that a filter finds. */
const maxLookedThrough = 2000;

/**
 * A page of the deliveries of an organization whose payload is still kept, by the index of payloads.
 * @throws Refusal 503 if it has to look at too many
 */
export async function listDeliveriesOfOrganization(
  db: Db,
  organizationId: string,
  page: CursorPage,
  { status, event, externalId, receivedFrom, receivedTo }: Omit<DeliveryFilter, "id">,
): Promise<Delivery[]> {
  const { deliveries, payloads } = db.tables;
  const equal = presentFilters([
    [deliveries.event, event],
    [deliveries.externalId, externalId],
  ]).map(([column, value]) => eq(column, value));
  const hasStatus =
    status === "waiting" ? isNull(deliveries.status) : status && eq(deliveries.status, status);
  const rest: SQL[] = hasStatus ? [...equal, hasStatus] : equal;
  return selectPage(payloads.deliveryId, page, async ({ condition, order, limit }) => {
    const inTime = and(
      eq(payloads.organizationId, organizationId),
      receivedFrom && gte(payloads.deliveryId, lowestIdAt(receivedFrom)),
      receivedTo && lt(payloads.deliveryId, lowestIdAt(new Date(receivedTo.getTime() + 1))),
      condition,
    );
    const slice = () => db.select({ id: payloads.deliveryId }).from(payloads).where(inTime).orderBy(order);
    const size = rest.length > 0 ? maxLookedThrough : limit;
    const ids = slice().limit(size);
    // For `in`, Postgres could read all deliveries.
    const isAmong = isPostgres(deliveries.id)
      ? sql`${deliveries.id} = any(array(${ids}))`
      : inArray(deliveries.id, ids);
    const isBackwards = Boolean(page.newerThan);
    const rows = await db
      .select()
      .from(deliveries)
      .where(and(isAmong, ...rest))
      .orderBy(isBackwards ? deliveries.id : desc(deliveries.id))
      .limit(limit);
    const isCut = rest.length > 0 && rows.length < limit && (await slice().limit(1).offset(size)).length > 0;
    if (isCut)
      throw new Refusal(503, "Too many deliveries to look through. Add an earliest and a latest time.");
    return rows;
  });
}
