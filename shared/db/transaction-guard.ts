import { AsyncLocalStorage } from "node:async_hooks";

const inside = new AsyncLocalStorage<true>();

export function insideTransaction<T>(work: () => Promise<T>): Promise<T> {
  return inside.run(true, work);
}

/**
 * Finds bugs that Postgres hides: on SQLite a nested transaction deadlocks, and a read through `db` misses its writes.
 */
export function refuseInsideTransaction(what: string): void {
  if (inside.getStore()) throw new Error(`${what} inside a transaction: use the tx that you were given.`);
}
