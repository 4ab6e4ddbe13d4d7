import { AsyncLocalStorage } from "node:async_hooks";

const inside = new AsyncLocalStorage<true>();

/** Marks the work of a transaction for `refuseInsideTransaction`. */
export function insideTransaction<T>(work: () => Promise<T>): Promise<T> {
  return inside.run(true, work);
}

/**
 * Finds bugs that Postgres would hide: on SQLite a nested transaction would wait for itself, and a read through
 * `db` would not see the transaction's writes.
 */
export function refuseInsideTransaction(what: string): void {
  if (inside.getStore()) throw new Error(`${what} inside a transaction: use the tx that you were given.`);
}
