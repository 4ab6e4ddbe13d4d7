import { and, eq, gt, inArray, lt, lte, max, min, not, or, sql, sum } from "drizzle-orm";
import type { Db, Tx } from "../db/database.ts";
import type { Tables } from "../db/schema.ts";

/** Tables of the stored bytes of organizations by the hour. */
export type ByteTotals = EvictableTotals | Tables["recordTotals"];
type EvictableTotals = Tables["payloadTotals"] | Tables["logTotals"] | Tables["artifactTotals"];

/** Of what is evicted, the oldest first, once an organization stores too much. */
export function evictableTotals(tables: Tables): EvictableTotals[] {
  return [tables.payloadTotals, tables.logTotals, tables.artifactTotals];
}

export interface OrganizationBytes {
  organizationId: string;
  bytes: number;
}

export async function addToTotals(
  tx: Tx,
  totals: ByteTotals,
  hour: Date,
  added: OrganizationBytes[],
): Promise<void> {
  if (added.length === 0) return;
  await tx
    .insert(totals)
    .values(added.map((each) => ({ ...each, hour })))
    .onConflictDoUpdate({
      target: [totals.organizationId, totals.hour],
      set: { bytes: sql`${totals.bytes} + excluded.bytes` },
    });
}

export async function subtractFromTotal(
  tx: Tx,
  totals: ByteTotals,
  hour: Date,
  { organizationId, bytes }: OrganizationBytes,
): Promise<void> {
  await tx
    .update(totals)
    .set({ bytes: sql`${totals.bytes} - ${bytes}` })
    .where(and(eq(totals.organizationId, organizationId), eq(totals.hour, hour)));
}

/** The stored bytes of one organization. */
export async function sumTotalsOf(tx: Tx, totals: ByteTotals, organizationId: string): Promise<number> {
  const [row] = await tx
    .select({ bytes: sum(totals.bytes).mapWith(Number) })
    .from(totals)
    .where(eq(totals.organizationId, organizationId));
  return row?.bytes ?? 0;
}

export async function listTotals(
  tx: Tx,
  totals: ByteTotals,
  organizationId: string,
): Promise<{ hour: Date; bytes: number }[]> {
  return tx
    .select({ hour: totals.hour, bytes: totals.bytes })
    .from(totals)
    .where(eq(totals.organizationId, organizationId));
}

/** Sums of all organizations, and of the one that has most. Reads every total, off the event loop. */
export async function findSumOfTotals(
  db: Db,
  totals: ByteTotals,
): Promise<{ bytes: number; largest: number }> {
  const ofOrganization = db.offLoop
    .select({ bytes: sum(totals.bytes).mapWith(Number).as("bytes_of_organization") })
    .from(totals)
    .groupBy(totals.organizationId)
    .as("of_organization");
  const [row] = await db.offLoop
    .select({
      bytes: sum(ofOrganization.bytes).mapWith(Number),
      largest: max(sql`${ofOrganization.bytes}`).mapWith(Number),
    })
    .from(ofOrganization);
  return { bytes: row?.bytes ?? 0, largest: row?.largest ?? 0 };
}

export async function lockTotalsOf(tx: Tx, totals: ByteTotals, organizationIds: string[]): Promise<void> {
  await tx.lock(totals, inArray(totals.organizationId, organizationIds), "exclusive");
}

/** @param before deletes those of earlier hours too: what was lost from a total ends with its hour */
export async function deleteZeroTotals(
  tx: Tx,
  totals: ByteTotals,
  organizationId: string,
  before?: Date,
): Promise<void> {
  const isOld = before && lt(totals.hour, before);
  await tx
    .delete(totals)
    .where(and(eq(totals.organizationId, organizationId), or(lte(totals.bytes, 0), isOld)));
}

/** Organizations that store more than `maxBytes`, or have totals of an hour before `time`. */
export async function listOrganizationsToEvict(
  db: Db,
  totals: ByteTotals,
  { maxBytes, time }: { maxBytes: number; time: Date },
): Promise<string[]> {
  const { organizationId, hour } = totals;
  const rows = await db.offLoop
    .select({ organizationId })
    .from(totals)
    .groupBy(organizationId)
    .having(or(gt(sum(totals.bytes), maxBytes), sql`${min(hour)} < ${sql.param(time, hour)}`));
  return rows.map((row) => row.organizationId);
}

/** The stored bytes of each organization that has totals. Reads every total, off the event loop. */
export async function sumByOrganization(db: Db, totals: ByteTotals): Promise<Map<string, number>> {
  const rows = await db.offLoop
    .select({ organizationId: totals.organizationId, bytes: sum(totals.bytes).mapWith(Number) })
    .from(totals)
    .groupBy(totals.organizationId);
  return new Map(rows.map(({ organizationId, bytes }) => [organizationId, Math.max(0, bytes)]));
}

/** The stored bytes of logs whose attempt has not ended, which are not in the totals. */
export async function sumOpenLogs(db: Db): Promise<Map<string, number>> {
  const { agents, jobLogs } = db.tables;
  const rows = await db.offLoop
    .select({ organizationId: agents.organizationId, bytes: sum(jobLogs.storedBytes).mapWith(Number) })
    .from(agents)
    .innerJoin(jobLogs, and(eq(jobLogs.jobId, agents.jobId), not(jobLogs.isCounted)))
    .where(eq(agents.state, "connected"))
    .groupBy(agents.organizationId);
  return new Map(rows.map(({ organizationId, bytes }) => [organizationId, bytes]));
}

interface OrganizationSums {
  storedBytes: number;
  keptBytes: number;
}

export async function listOrganizationSums(
  db: Db,
): Promise<(OrganizationSums & { id: string; recordBytes: number })[]> {
  const { id, storedBytes, keptBytes, recordBytes } = db.tables.organizations;
  return db.offLoop.select({ id, storedBytes, keptBytes, recordBytes }).from(db.tables.organizations);
}

/** Organizations that stored more than this, when they were counted last. */
export async function listOrganizationsOver(db: Db, bytes: number): Promise<string[]> {
  const { organizations } = db.tables;
  const rows = await db
    .select({ id: organizations.id })
    .from(organizations)
    .where(gt(organizations.storedBytes, bytes));
  return rows.map(({ id }) => id);
}

/** Sums of all organizations, and of the one that has most, as they were counted last. */
export async function findSumsOfOrganizations(db: Db) {
  const { storedBytes, keptBytes } = db.tables.organizations;
  const [row] = await db.offLoop
    .select({
      all: { bytes: sum(storedBytes).mapWith(Number), largest: max(storedBytes) },
      kept: { bytes: sum(keptBytes).mapWith(Number), largest: max(keptBytes) },
    })
    .from(db.tables.organizations);
  return row;
}

export async function setSums(tx: Tx, id: string, sums: OrganizationSums): Promise<void> {
  const { organizations } = tx.tables;
  await tx.update(organizations).set(sums).where(eq(organizations.id, id));
}

/** The bytes of an organization that are not evicted, as they were counted last. */
export async function findKeptBytes(tx: Tx, id: string): Promise<number> {
  const { organizations } = tx.tables;
  const [row] = await tx
    .select({ bytes: organizations.keptBytes })
    .from(organizations)
    .where(eq(organizations.id, id));
  return row?.bytes ?? 0;
}
