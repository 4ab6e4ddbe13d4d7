import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Redis } from "ioredis";
import { connectFast, connectPatient } from "../../shared/redis/connect.ts";
import { createEvents } from "../../shared/redis/events.ts";
import { redisKeys } from "../../shared/redis/keys.ts";
import { eventually } from "../helpers/http.ts";

const url = process.env.TEST_REDIS_URL ?? "";

describe("listeners to events", () => {
  const open = () => {
    const redis = connectFast(url);
    let subscriber: Redis | undefined;
    const connect = () => {
      subscriber = connectPatient(url);
      return subscriber;
    };
    const breaker = { try: (command: () => Promise<unknown>) => command(), isOpen: () => false };
    const keys = redisKeys(`events-test-${process.pid}`);
    const events = createEvents({ redis, connect, keys, breaker: breaker as never });
    return {
      events,
      subscriber: () => subscriber,
      close: async () => {
        await events.close();
        redis.disconnect();
      },
    };
  };

  it("are called when Redis begins to send events, and when it begins again: earlier ones are lost", async () => {
    const { events, subscriber, close } = open();
    let heard = 0;
    const unsubscribe = events.subscribe(["build:1"], () => heard++);

    await eventually("the first call", async () => heard === 1);
    subscriber()?.disconnect(true);
    await eventually("the second call", async () => heard === 2);

    unsubscribe();
    subscriber()?.disconnect(true);
    await eventually("the connection", async () => subscriber()?.status === "ready");
    await subscriber()?.ping();
    assert.equal(heard, 2);
    await close();
  });

  it("are then called few at a time, so that many do not hold the event loop", async () => {
    const { events, close } = open();
    let heard = 0;
    let inTurn = 0;
    let most = 0;
    const listen = () => {
      heard++;
      if (inTurn++ === 0) setImmediate(() => (inTurn = 0));
      most = Math.max(most, inTurn);
    };
    const unsubscribes = Array.from({ length: 100 }, (_, page) =>
      events.subscribe(["build:1", `job:${page}`], () => listen()),
    );

    await eventually("some calls", async () => heard > 0);
    assert.ok(most <= 20, `${most} in a turn`);
    await eventually("all calls", async () => heard === 100);
    for (const unsubscribe of unsubscribes) unsubscribe();
    await close();
  });
});
