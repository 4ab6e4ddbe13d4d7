import type { Db, Tx } from "./database.ts";

/** Rows that one transaction deletes at most: nobody waits for it, and no statement runs into its time-out. */
const rowsAtOnce = 200;

/**
 * Delete batch by batch, each in a transaction of its own, until a batch is not full.
 * @param deleteBatch deletes at most `limit` rows and returns how many
 * @returns how many went in all
 */
export async function purgeInBatches(
  db: Db,
  deleteBatch: (tx: Tx, limit: number) => Promise<number>,
): Promise<number> {
  for (let total = 0; ; ) {
    const gone = await db.transaction((tx) => deleteBatch(tx, rowsAtOnce));
    total += gone;
    if (gone < rowsAtOnce) return total;
  }
}
