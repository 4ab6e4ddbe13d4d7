import { AsyncLocalStorage } from "node:async_hooks";
import type { Due } from "../process/due.ts";

const inside = new AsyncLocalStorage<Due[]>();

/** Runs a transaction. @returns its result, and what it has made due: publish that after its commit */
export async function insideTransaction<T>(work: () => Promise<T>): Promise<{ result: T; due: Due[] }> {
  const due: Due[] = [];
  return { result: await inside.run(due, work), due };
}

/** Publishes this once the present transaction is committed. */
export function publishAfterCommit(due: Due[]): void {
  const present = inside.getStore();
  if (!present) throw new Error("Something is due outside of a transaction.");
  present.push(...due);
}

/**
 * Finds bugs that Postgres hides: on SQLite a nested transaction deadlocks, and a read through `db` misses its writes.
 */
export function refuseInsideTransaction(what: string): void {
  if (inside.getStore()) throw new Error(`${what} inside a transaction: use the tx that you were given.`);
}
