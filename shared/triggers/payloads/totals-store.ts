import { and, asc, eq, gte, lt, sql, sum } from "drizzle-orm";
import type { Tx } from "../../db/database.ts";
import { lockSharedValue, putSharedValue } from "../../db/shared-values-store.ts";
import { hourOf } from "../../durations.ts";
import { timeOfId } from "../../ids.ts";
import type { IdRange } from "../../retention/records-store.ts";
import { type OrganizationBytes, subtractFromTotal } from "../../retention/totals-store.ts";

/** Payloads with lower ids are in the totals. The migration writes the first value. */
const countedBelowName = "payloads_counted_below";

/**
 * Locks the totals, so that no payload is counted and deleted at once. Accepting transactions never lock them.
 * @returns the id below which payloads are in the totals
 */
export function lockTotals(tx: Tx): Promise<string> {
  return lockSharedValue(tx, countedBelowName);
}

export function setCountedBelow(tx: Tx, id: string): Promise<void> {
  return putSharedValue(tx, countedBelowName, id);
}

/** Finds the first id of a range, or the first after `skipped` ids. */
export async function findPayloadId(
  tx: Tx,
  { from, below }: IdRange,
  skipped: number,
): Promise<string | undefined> {
  const { payloads } = tx.tables;
  const [found] = await tx
    .select({ id: payloads.deliveryId })
    .from(payloads)
    .where(and(gte(payloads.deliveryId, from), lt(payloads.deliveryId, below)))
    .orderBy(asc(payloads.deliveryId))
    .limit(1)
    .offset(skipped);
  return found?.id;
}

/** Reads an index that has the sizes: rows of payloads are scattered between bodies. */
export async function sumPayloadBytes(tx: Tx, { from, below }: IdRange): Promise<OrganizationBytes[]> {
  const { organizations, payloads } = tx.tables;
  const isOfOrganization = eq(payloads.organizationId, organizations.id);
  const bytes = tx
    .select({ bytes: sum(payloads.size) })
    .from(payloads)
    .where(and(isOfOrganization, gte(payloads.deliveryId, from), lt(payloads.deliveryId, below)));
  const sums = await tx
    .select({ organizationId: organizations.id, bytes: sql`${bytes}`.mapWith(Number) })
    .from(organizations);
  return sums.filter((each) => each.bytes > 0); // null without payloads
}

interface DeletedPayload {
  deliveryId: string;
  organizationId: string;
  size: number;
}

/** Call it with the totals locked, for payloads that they count. */
export async function subtractFromTotals(tx: Tx, deleted: DeletedPayload[]): Promise<void> {
  const { payloadTotals } = tx.tables;
  const hourOfPayload = ({ deliveryId }: DeletedPayload) => hourOf(timeOfId(deliveryId));
  const keyOf = (each: DeletedPayload) => `${each.organizationId} ${hourOfPayload(each).getTime()}`;
  for (const [, payloads] of Map.groupBy(deleted, keyOf)) {
    const [first] = payloads as [DeletedPayload];
    const bytes = payloads.reduce((total, { size }) => total + size, 0);
    const { organizationId } = first;
    await subtractFromTotal(tx, payloadTotals, hourOfPayload(first), { organizationId, bytes });
  }
}

/** Deletes the totals of hours before the organization's oldest payload. */
export async function deleteEmptyTotals(tx: Tx, organizationId: string): Promise<void> {
  const { payloads, payloadTotals } = tx.tables;
  await lockTotals(tx);
  const [oldest] = await tx
    .select({ id: payloads.deliveryId })
    .from(payloads)
    .where(eq(payloads.organizationId, organizationId))
    .orderBy(asc(payloads.deliveryId))
    .limit(1);
  const isEmpty = oldest && lt(payloadTotals.hour, hourOf(timeOfId(oldest.id)));
  await tx.delete(payloadTotals).where(and(eq(payloadTotals.organizationId, organizationId), isEmpty));
}
