import type { Db, Tx } from "./database.ts";

/** Small enough that writers do not wait and no statement times out. */
const batchRows = 200;

/**
 * Deletes in batches, each in its own transaction, until a batch is not full.
 * @param deleteBatch deletes at most `limit` rows and returns their number
 * @returns the total
 */
export async function purgeInBatches(
  db: Db,
  deleteBatch: (tx: Tx, limit: number) => Promise<number>,
): Promise<number> {
  for (let total = 0; ; ) {
    const deleted = await db.transaction((tx) => deleteBatch(tx, batchRows));
    total += deleted;
    if (deleted < batchRows) return total;
  }
}
