import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sentinelOptions } from "../../shared/redis/address.ts";
import { readConfig } from "../../shared/settings/config.ts";

const read = (REDIS_URL: string) => readConfig({ SECRET_KEY: "x".repeat(32), REDIS_URL }).redisUrl;

describe("REDIS_URL", () => {
  for (const url of [
    "redis://localhost",
    "rediss://user:secret@redis.example.com:6380/2",
    "/run/redis.sock",
    "data/redis.sock",
    "redis+sentinel://one:26379,two:26380,three/main/2",
    "rediss+sentinel://user:secret@[::1]:26379/main?sentinel_password=other",
  ])
    it(`may be ${url}`, () => assert.equal(read(url), url));

  for (const [url, problem] of [
    ["mysql://localhost", /REDIS_URL must be redis:\/\//],
    ["redis://:hunter2#x@redis", /has a raw #: write %23/],
    ["redis://:hunter2/x@redis", /cannot be read: write %2F/],
    ["redis://redis/first", /has a database that is no number/],
    ["redis+sentinel://one:26379", /redis\+sentinel:\/\/host:port,host:port\/master-name/],
    ["redis+sentinel://one:26379/main/first", /master-name/],
    ["redis+sentinel://one:99999/main", /has a sentinel "one:99999" that is not host:port/],
    ["redis+sentinel://user:100%@one/main", /has a % that .* write %25/],
    ["redis+sentinel://one,,two/main", /has a sentinel "" that is not host:port/],
    ["redis+sentinel://one/main?password=secret", /unknown parameter password: there are sentinel_username/],
  ] as const)
    it(`is refused with what to do: ${url}`, () => {
      assert.throws(() => read(url), problem);
    });

  it("never shows a password when it is refused", () => {
    assert.throws(
      () => read("redis+sentinel://user:hunter2@one:0/main"),
      (error: Error) => !error.message.includes("hunter2"),
    );
  });

  it("names sentinels, their master and both kinds of credentials", () => {
    const url =
      "rediss+sentinel://ada:p%40ss:word@one:1,[::1]/main/3?sentinel_username=u&sentinel_password=s";
    assert.deepEqual(sentinelOptions(url), {
      sentinels: [
        { host: "one", port: 1 },
        { host: "::1", port: 26_379 },
      ],
      name: "main",
      db: 3,
      username: "ada",
      password: "p@ss:word",
      sentinelUsername: "u",
      sentinelPassword: "s",
      tls: {},
      sentinelTLS: {},
      enableTLSForSentinelMode: true,
    });
    assert.equal(sentinelOptions("redis://localhost"), undefined);
  });
});
