import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { Redis } from "ioredis";
import { given } from "./given.ts";

const { url, missing } = given("TEST_REDIS");

describe("the tests' Redis", { skip: missing }, () => {
  const redis = new Redis(url, { lazyConnect: true });
  after(() => redis.disconnect());

  it("answers", async () => {
    assert.equal(await redis.ping(), "PONG");
  });

  it("never evicts a key", async () => {
    assert.match(await redis.info("memory"), /maxmemory_policy:noeviction/);
  });

  it("runs at the origin that TEST_REDIS_FROM names", async () => {
    const from = process.env.TEST_REDIS_FROM;

    const server = await redis.info("server");

    const isFirstProcess = /process_id:1\r/.test(server); // only in a container
    const hasOwnPort = server.includes(`tcp_port:${new URL(url).port}\r`);
    if (from === "testcontainers") assert.ok(isFirstProcess, "not in a container");
    if (from === "private") assert.ok(!isFirstProcess && hasOwnPort, "not a private server");
  });
});
