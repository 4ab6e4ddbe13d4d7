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

export interface Batch {
  count: number;
  isLast: boolean;
  /** The next batch starts behind this key. */
  after?: string | undefined;
}

export interface Bounds<Each extends Batch> {
  /** Ends the run after so many batches. */
  maxBatches?: number;
  /** Ends the run after at least so many rows. */
  maxCount?: number;
  /** For work outside the database, of each batch. */
  afterCommit?: (batch: Each) => Promise<void>;
}

/**
 * Runs a transaction for each batch, up to the last one.
 * @returns the number of rows
 */
export async function runBatches<Each extends Batch>(
  db: Db,
  run: (tx: Tx, after: string | undefined) => Promise<Each>,
  {
    maxBatches = Number.POSITIVE_INFINITY,
    maxCount = Number.POSITIVE_INFINITY,
    afterCommit,
  }: Bounds<Each> = {},
): Promise<number> {
  let total = 0;
  let after: string | undefined;
  for (let batches = 0; batches < maxBatches && total < maxCount; batches++) {
    const from = after;
    const batch = await db.transaction((tx) => run(tx, from));
    await afterCommit?.(batch);
    total += batch.count;
    if (batch.isLast) break;
    after = batch.after;
    await restBetweenTransactions();
  }
  return total;
}

/**
 * @param change changes at most `limit` rows, and returns their number; fewer are the last
 * @returns the number of rows
 */
export function changeInBatches(
  db: Db,
  change: (tx: Tx, limit: number) => Promise<number>,
  limit = batchRows,
): Promise<number> {
  return runBatches(db, async (tx) => {
    const count = await change(tx, limit);
    return { count, isLast: count < limit };
  });
}
