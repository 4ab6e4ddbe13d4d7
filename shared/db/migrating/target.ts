import type { Dialect } from "../columns.ts";
import { type Backfill, type Index, migrationsTable } from "./migrations.ts";

export type Report = (line: string) => void;

/** A database that other processes use meanwhile. */
export interface Target {
  dialect: Dialect;
  /** For messages. */
  url: string;
  read<Row>(query: string): Promise<Row[]>;
  /** Runs statements in a transaction, whose locks are short. */
  change(statements: string[]): Promise<void>;
  /** Fills in batches, each a transaction. */
  fill(backfill: Backfill): Promise<void>;
  /** Keeps an index that is there. */
  buildIndex(index: Index): Promise<void>;
}

export function insertApplied(hash: string, when: number): string {
  return `INSERT INTO "${migrationsTable}" (hash, created_at) VALUES ('${hash}', ${when})`;
}

export async function readApplied(target: Target): Promise<{ hash: string; when: number }[]> {
  const rows = await target.read<{ hash: string; created_at: string | number }>(
    `SELECT hash, created_at FROM "${migrationsTable}"`,
  );
  return rows.map(({ hash, created_at }) => ({ hash, when: Number(created_at) }));
}

export function newestOf(applied: { when: number }[]): number {
  return Math.max(0, ...applied.map(({ when }) => when));
}
