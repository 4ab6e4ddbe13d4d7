import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Dialect } from "../columns.ts";
import { parseStatement, type Statement } from "./statements.ts";

export const migrationsTable = "schema_migrations";

/** A migration of the journal that drizzle-kit writes. */
export interface Migration {
  tag: string;
  /** The time of its making, which its row in the database has too. */
  when: number;
  /** The hash of its file. */
  hash: string;
  statements: Statement[];
}

/** The migrations, oldest first. */
export function readMigrations(dialect: Dialect): Migration[] {
  return readJournal(dialect).map(({ tag, when }) => {
    const text = readFileSync(join(folder(dialect), `${tag}.sql`), "utf8");
    return {
      tag,
      when,
      hash: createHash("sha256").update(text).digest("hex"),
      statements: text.split("--> statement-breakpoint").map(parseStatement),
    };
  });
}

export function readJournal(dialect: Dialect): { tag: string; when: number }[] {
  return JSON.parse(readFileSync(join(folder(dialect), "meta/_journal.json"), "utf8")).entries;
}

function folder(dialect: Dialect): string {
  return join(import.meta.dirname, "../migrations", dialect);
}
