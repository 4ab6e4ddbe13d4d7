import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Dialect } from "../columns.ts";

export const migrationsTable = "schema_migrations";

/** The times and hashes of all migrations, oldest first, which `npm run generate` writes. */
export const listFile = join(import.meta.dirname, "../migrations/list.json");

/** A file of a migration. Neither changes once it has landed: installations have run it. */
export interface Made {
  /** The time of its making, which its row in the database has too. */
  when: number;
  /** The first 16 digits of the hash of its file. */
  hash: string;
}

export interface Migration {
  tag: string;
  /** The time of its making, which its row in the database has too. */
  when: number;
  /** The hash of its file. */
  hash: string;
  /** Statements that add tables, with their indexes, and columns. They take no time. */
  additions: string[];
  /** New indexes of tables that are there already. */
  indexes: Index[];
  /** Statements that drop indexes, once the new ones have taken their place. */
  drops: string[];
  backfills: Backfill[];
}

export interface Index {
  name: string;
  table: string;
  text: string;
}

/** Gives the rows of a table their values in batches, by their `id`. */
export interface Backfill {
  table: string;
  /** Columns of an UPDATE. */
  set: string;
  /** Rows that have no values yet. */
  where: string;
}

/** By the tag of the migration that adds the columns. */
const backfills: Record<string, Backfill[]> = {};

const ofTable = /^CREATE TABLE [`"](?<table>\w+)/;
const ofIndex = /^CREATE (?:UNIQUE )?INDEX [`"](?<name>\w+)[`"] ON [`"](?<table>\w+)/;

/** The migrations, oldest first. */
export function readMigrations(dialect: Dialect): Migration[] {
  return readList().map(({ tag, [dialect]: { when } }) => {
    const text = readFileSync(join(folder(dialect), `${tag}.sql`), "utf8");
    const hash = createHash("sha256").update(text).digest("hex");
    return { tag, when, hash, backfills: backfills[tag] ?? [], ...sortStatements(text) };
  });
}

/** Exported for tests. */
export function sortStatements(text: string): Pick<Migration, "additions" | "indexes" | "drops"> {
  const statements = text.split("--> statement-breakpoint").map((each) => each.trim().replace(/;$/, ""));
  const created = new Set(statements.map((each) => ofTable.exec(each)?.groups?.table));
  const additions: string[] = [];
  const indexes: Index[] = [];
  const drops: string[] = [];
  for (const each of statements) {
    const { name, table } = ofIndex.exec(each)?.groups ?? {};
    if (name && table && !created.has(table)) indexes.push({ name, table, text: each });
    else if (each.startsWith("DROP INDEX ")) drops.push(each);
    else additions.push(each);
  }
  return { additions, indexes, drops };
}

export function readList(): ({ tag: string } & Record<Dialect, Made>)[] {
  return JSON.parse(readFileSync(listFile, "utf8"));
}

function folder(dialect: Dialect): string {
  return join(import.meta.dirname, "../migrations", dialect);
}
