import { secondMs } from "../../durations.ts";
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

const reportEveryMs = 5 * secondMs;

/** Counts the rows of a table that are filled, and reports them from time to time, and at the end. */
export function countFilled(table: string, report: Report) {
  let filled = 0;
  let reportedAt = performance.now();
  const say = () => {
    reportedAt = performance.now();
    report(`  ${table}: ${filled.toLocaleString("en")} rows filled`);
  };
  return {
    add(rows: number): void {
      filled += rows;
      if (performance.now() - reportedAt > reportEveryMs) say();
    },
    end(): void {
      if (filled > 0) say();
    },
  };
}

/** Reports what took over a second. */
export function reportIfLong(what: string, startedAt: number, report: Report): void {
  const seconds = (performance.now() - startedAt) / secondMs;
  if (seconds > 1) report(`  ${what}: ${seconds.toFixed(1)} s`);
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
