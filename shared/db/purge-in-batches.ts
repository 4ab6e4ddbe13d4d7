import { setTimeout as sleep } from "node:timers/promises";
import type { Db, Tx } from "./database.ts";

/** Writers do not wait, and no statement times out. */
const batchRows = 200;
/** Other processes retry SQLite's write lock every 10 ms or less. */
const restMs = 10;

/** Lets other writers in between two transactions of a long run. */
export function restBetweenTransactions(): Promise<void> {
  return sleep(restMs);
}

/**
 * Each batch is a transaction.
 * @param deleteBatch returns the number deleted
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
    await restBetweenTransactions();
  }
}
