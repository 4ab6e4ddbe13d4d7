import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { getTableConfig, type PgTable } from "drizzle-orm/pg-core";
import { backfills, updatedAtOnce } from "../../../shared/db/migrating/backfills.ts";
import { failure } from "../../../shared/db/migrating/failed.ts";
import { readMigrations } from "../../../shared/db/migrating/journal.ts";
import { lockOrder } from "../../../shared/db/migrating/postgres-locks.ts";
import { parseStatement } from "../../../shared/db/migrating/statements.ts";
import { postgresTables } from "../../../shared/db/postgres.ts";

/** Migrations of before the promise. */
const beforePromise = 22;
/** The former release fails without what these take, or with rows that these demand. */
const contracting = new Set(["set not null", "drop table", "rename table", "copy"]);
const isRequired = (text: string) => /NOT NULL/.test(text) && !/DEFAULT/.test(text);
/** By migration: the release that stopped to use what it takes. It must be one before. */
const contractions: Record<string, string> = {};

describe("the statements of migrations", () => {
  it("are all of a known kind, and fill large tables in batches", () => {
    for (const dialect of ["sqlite", "postgres"] as const)
      for (const { tag, statements } of readMigrations(dialect)) {
        const filled = new Set(backfills[tag]?.map(({ table }) => table));
        for (const each of statements)
          if (each.kind === "update")
            assert.ok(
              filled.has(each.table) || updatedAtOnce.has(each.table),
              `${tag}: UPDATE ${each.table}`,
            );
      }
  });

  it("only add, since going back to a former release is promised", () => {
    for (const dialect of ["sqlite", "postgres"] as const)
      for (const { tag, statements } of readMigrations(dialect).slice(beforePromise))
        for (const each of statements) {
          const adds = !contracting.has(each.kind) && !(each.kind === "add column" && isRequired(each.text));
          assert.ok(adds || contractions[tag], `${tag}: ${each.text}`);
        }
  });

  it("of an unknown kind are refused", () => {
    assert.throws(() => parseStatement('CLUSTER "builds"'), /unknown kind: CLUSTER "builds"/);
  });

  it("lock the tables of owners before those of what belongs to them", () => {
    for (const table of Object.values(postgresTables) as unknown as PgTable[]) {
      const { name, foreignKeys } = getTableConfig(table);
      for (const key of foreignKeys) {
        const owner = getTableConfig(key.reference().foreignTable).name;
        if (owner !== name)
          assert.ok(lockOrder.indexOf(owner) < lockOrder.indexOf(name), `${owner}, ${name}`);
      }
    }
  });
});

describe("the message of a migration that failed", () => {
  it("has the first cause, its table and what to do", () => {
    const root = Object.assign(new Error("deadlock detected"), { code: "40P01", table: "builds" });
    const wrapped = new Error("Failed query: ALTER TABLE …", { cause: new Error("query", { cause: root }) });

    assert.equal(
      failure(wrapped, "0004_lists", "postgres://x/y").message,
      "0004_lists: deadlock detected. Table: builds. Postgres does not finish a statement: look at its disk, at its locks, and at the statement_timeout of the user of DATABASE_URL. Run it again: it goes on where it stopped. The former version works meanwhile.",
    );
  });
});
