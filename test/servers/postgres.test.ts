import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import pg from "pg";
import { given } from "./given.ts";

const { url, missing } = given("TEST_DATABASE");

describe("the tests' Postgres", { skip: missing }, () => {
  const client = new pg.Client({ connectionString: url });
  before(() => client.connect());
  after(() => client.end());

  it("lets a test create and drop a UTF-8 database", async () => {
    const name = `own_${process.pid}_${Date.now()}`;

    await client.query(`create database ${name}`);

    const { rows } = await client.query(
      "select pg_encoding_to_char(encoding) as encoding from pg_database where datname = $1",
      [name],
    );
    await client.query(`drop database ${name}`);
    assert.deepEqual(rows, [{ encoding: "UTF8" }]);
  });
});
