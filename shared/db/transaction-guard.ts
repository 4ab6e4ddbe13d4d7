import { AsyncLocalStorage } from "node:async_hooks";

const inside = new AsyncLocalStorage<true>();

/** Runs the work of a transaction so that a second one inside it, or a read beside it, is noticed. */
export function insideTransaction<T>(work: () => Promise<T>): Promise<T> {
  return inside.run(true, work);
}

/**
 * A transaction inside a transaction would wait for itself for ever on SQLite, and a read through `db` there
 * would not see what the transaction has written. Both are bugs, and both would pass on Postgres.
 */
export function refuseInsideTransaction(what: string): void {
  if (inside.getStore()) throw new Error(`${what} inside a transaction: use the tx that you were given.`);
}
