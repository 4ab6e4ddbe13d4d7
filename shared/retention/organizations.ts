import type { Services } from "../process/services.ts";
import { countRecords } from "./records.ts";
import { listOrganizationSums, setStoredBytes, sumByOrganization } from "./totals-store.ts";

/**
 * Counts new records, and writes what each organization stores into its row, which every request of the organization
 * reads anyway.
 */
export async function countStoredBytes(services: Services): Promise<void> {
  const { db } = services;
  await countRecords(services);
  const logs = await sumByOrganization(db, db.tables.logTotals);
  const payloads = await sumByOrganization(db, db.tables.payloadTotals);
  for (const { id, storedBytes: before, recordBytes } of await listOrganizationSums(db)) {
    const storedBytes = Math.max(0, recordBytes) + (logs.get(id) ?? 0) + (payloads.get(id) ?? 0);
    if (storedBytes !== before) await db.transaction((tx) => setStoredBytes(tx, id, storedBytes));
  }
}
