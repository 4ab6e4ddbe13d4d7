import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { failure } from "../../../shared/db/migrating/failed.ts";
import { readMigrations } from "../../../shared/db/migrating/migrations.ts";

/** All that runs beside traffic, as drizzle-kit writes it. */
const adding = [
  /^CREATE TABLE /,
  /^CREATE (UNIQUE )?INDEX /,
  /^ALTER TABLE \S+ ADD (COLUMN )?(?!.* NOT NULL)/,
  /^ALTER TABLE \S+ ADD (COLUMN )?.* DEFAULT /,
];
const ofForeignKey = /^ALTER TABLE "(?<table>\w+)" ADD CONSTRAINT/;
/** By migration: the release that stopped to use what it takes. It must be one before. */
const contractions: Record<string, string> = {};
/** Indexes that wider ones replace: for rows of the release before, which have the default there, they hold the same. */
const replaced: Record<string, string> = { builds_delivery: "builds_delivery_position" };

describe("the statements of migrations", () => {
  it("only add, since going back to a former release is promised", () => {
    for (const dialect of ["sqlite", "postgres"] as const)
      for (const { tag, additions, indexes, drops } of readMigrations(dialect).slice(1)) {
        const all = [...additions, ...indexes.map(({ text }) => text)];
        for (const each of all) assert.ok(adds(each, all) || contractions[tag], `${tag}: ${each}`);
        for (const each of drops) {
          const { name = "" } = /^DROP INDEX [`"](?<name>\w+)/.exec(each)?.groups ?? {};
          const successor = replaced[name];
          assert.ok(successor && indexes.some((index) => index.name === successor), `${tag}: ${each}`);
        }
      }
  });
});

/** A foreign key of a table that is there reads all of its rows under a lock. */
function adds(text: string, all: string[]): boolean {
  const { table } = ofForeignKey.exec(text)?.groups ?? {};
  if (table !== undefined) return all.some((each) => each.startsWith(`CREATE TABLE "${table}"`));
  return adding.some((pattern) => pattern.test(text));
}

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
