import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Redis } from "ioredis";
import { connectFast, connectPatient } from "../../shared/redis/connect.ts";
import { createEvents } from "../../shared/redis/events.ts";
import { redisKeys } from "../../shared/redis/keys.ts";
import { eventually } from "../helpers/http.ts";

const url = process.env.TEST_REDIS_URL ?? "";

describe("listeners to events", () => {
  it("are called when Redis begins to send events, and when it begins again: earlier ones are lost", async () => {
    const redis = connectFast(url);
    let subscriber: Redis | undefined;
    const connect = () => {
      subscriber = connectPatient(url);
      return subscriber;
    };
    const breaker = { try: (command: () => Promise<unknown>) => command(), isOpen: () => false };
    const keys = redisKeys(`events-test-${process.pid}`);
    const events = createEvents({ redis, connect, keys, breaker: breaker as never });
    let heard = 0;
    const unsubscribe = events.subscribe(["build:1"], () => heard++);

    await eventually("the first call", async () => heard === 1);
    subscriber?.disconnect(true);
    await eventually("the second call", async () => heard === 2);

    unsubscribe();
    subscriber?.disconnect(true);
    await eventually("the connection", async () => subscriber?.status === "ready");
    await subscriber?.ping();
    assert.equal(heard, 2);
    await events.close();
    redis.disconnect();
  });
});
