import type { Tx } from "../db/database.ts";
import type { Services } from "../services/services.ts";
import type { Config } from "../settings/config.ts";
import { countRecords } from "./records.ts";
import {
  type ByteTotals,
  evictableTotals,
  findKeptBytes,
  listOrganizationSums,
  listTotals,
  setSums,
  sumByOrganization,
  sumOpenLogs,
} from "./totals-store.ts";

/**
 * Counts new records, and writes what each organization stores into its row, which every request of the organization
 * reads anyway.
 */
export async function countStoredBytes(services: Services): Promise<void> {
  const { db } = services;
  await countRecords(services);
  const openLogs = await sumOpenLogs(db);
  const evictable: Map<string, number>[] = [];
  for (const totals of evictableTotals(db.tables)) evictable.push(await sumByOrganization(db, totals));
  for (const { id, recordBytes, ...before } of await listOrganizationSums(db)) {
    const keptBytes = Math.max(0, recordBytes) + (openLogs.get(id) ?? 0);
    const storedBytes = evictable.reduce((sum, each) => sum + (each.get(id) ?? 0), keptBytes);
    if (storedBytes === before.storedBytes && keptBytes === before.keptBytes) continue;
    await db.transaction((tx) => setSums(tx, id, { storedBytes, keptBytes }));
  }
}

/**
 * The bytes of a table that an organization has to lose: those over the table's own limit, or its part of those over
 * the limit of all. Of these the oldest hours go first, of whichever kind; each table finds its own part.
 */
export async function findExcess(
  tx: Tx,
  { storedBytesPerOrganization }: Config,
  { organizationId, table, limit }: { organizationId: string; table: ByteTotals; limit: number },
): Promise<number> {
  const hours = [];
  for (const each of evictableTotals(tx.tables))
    for (const total of await listTotals(tx, each, organizationId)) hours.push({ ...total, table: each });
  const sumOf = (totals: { bytes: number }[]) => totals.reduce((sum, { bytes }) => sum + bytes, 0);
  const ownExcess = sumOf(hours.filter((each) => each.table === table)) - limit;

  let over = (await findKeptBytes(tx, organizationId)) + sumOf(hours) - storedBytesPerOrganization;
  let part = 0;
  for (const each of hours.toSorted((a, b) => a.hour.getTime() - b.hour.getTime())) {
    const going = Math.max(0, Math.min(over, each.bytes));
    if (each.table === table) part += going;
    over -= going;
  }
  return Math.max(ownExcess, part);
}
