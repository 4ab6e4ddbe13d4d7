import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { forPostgresCommands, readPostgresAddress } from "../../../shared/db/postgres/address.ts";
import { readConfig } from "../../../shared/settings/config.ts";

const read = (DATABASE_URL: string) => readConfig({ SECRET_KEY: "x".repeat(32), DATABASE_URL }).databaseUrl;

describe("DATABASE_URL of Postgres", () => {
  for (const url of [
    "postgres://ada:p%23ss@db.example.com:5432/box?sslmode=require&connect_timeout=5",
    "postgresql://ada:p@ss@[::1]:5432/box",
    "postgres://ada@/box?host=/run/postgresql",
    "postgres:///box?host=/run/postgresql&options=-c%20search_path%3Dapp",
  ])
    it(`may be ${url}`, () => assert.equal(read(url), url));

  for (const [url, problem] of [
    ["postgres://ada:hunter2#3@db/box", /DATABASE_URL has a raw #: write %23/],
    ["postgres://ada:hunter2/3@db/box", /has a raw \/ in its user or password: write %2F/],
    ["postgres://ada:hunter2?3@db/box", /has a raw \? in its user or password: write %3F/],
    ["postgres://ada:hunter2%@db/box", /has a % that .*write %25/],
    ["postgres://ada:hunter2 3@db/box", /has a space: write %20/],
    ["postgres://ada:hunter2@one,two/box", /names several hosts: name one/],
    ["postgres://ada:hunter2@db:port/box", /a host or a port that cannot be read/],
    ["postgres://ada:hunter2@db/box?sslmode", /an sslmode that is none of disable, .*not encrypted/],
    ["postgres://ada:hunter2@db/box?sslmode=on", /an sslmode that is none of disable/],
    [
      "postgres://ada:hunter2@db/box?sslmode=verify-full&sslrootcert=/nowhere",
      /a file by sslrootcert that is not/,
    ],
    ["postgres://ada:hunter2@db/box?schema=app", /unknown parameter schema: there are host/],
  ] as const)
    it(`is refused with what to do, and without its password: ${url}`, () => {
      assert.throws(
        () => read(url),
        (error: Error) => problem.test(error.message) && !error.message.includes("hunter2"),
      );
    });

  it("gives the driver no limits and no warning, and commands no password", () => {
    const url = "postgres://ada:p%23@db/box?sslmode=require&statement_timeout=9&connect_timeout=5";
    assert.deepEqual(readPostgresAddress(url), {
      connectionString: "postgres://ada:p%23@db/box?sslmode=verify-full",
      connectTimeoutMs: 5000,
      limits: { statement_timeout: 9 },
    });
    assert.deepEqual(forPostgresCommands(url), {
      address: "postgres://ada@db/box?sslmode=require&connect_timeout=5",
      asksPassword: true,
    });
    assert.equal(
      forPostgresCommands("postgres://ada@/box?host=%2Frun").address,
      "postgres://ada@/box?host=%2Frun",
    );
  });
});
