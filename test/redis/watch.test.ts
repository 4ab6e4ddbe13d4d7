import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { EventEmitter } from "node:events";
import { describe, it } from "node:test";
import type { Redis } from "ioredis";
import { connectFast } from "../../shared/redis/connect.ts";
import { redisKeys } from "../../shared/redis/keys.ts";
import { problemOf, type RedisState } from "../../shared/redis/problems.ts";
import { watchRedis } from "../../shared/redis/watch.ts";
import { createLog } from "../../shared/services/log.ts";

/** Watches a Redis whose checks have these outcomes, the last of them for ever. @returns what it logged */
async function logOf(...outcomes: RedisState[]): Promise<string> {
  const redis = connectFast(process.env.TEST_REDIS_URL ?? "");
  const logged: string[] = [];
  const log = createLog({ level: "info", process: "test" }, { write: (line) => void logged.push(line) });
  const ended = Promise.withResolvers<void>();
  const check = async () => {
    const [state = "ok"] = outcomes.length > 1 ? outcomes.splice(0, 1) : outcomes;
    if (outcomes.length === 1) setTimeout(ended.resolve, 50);
    return state === "ok" ? { state } : problemOf(state);
  };
  const keys = redisKeys(`watch-${randomUUID()}`);
  const watch = watchRedis({ redis, keys, check, log, onDataLost: () => {} });
  await ended.promise;
  watch.close();
  redis.disconnect();
  return logged.join("");
}

describe("the first check of Redis", () => {
  it("is made again if no answer came in time", async () => {
    assert.equal(await logOf("unavailable", "ok"), "");
  });

  it("tells of a Redis that does not answer then either, and of other problems at once", async () => {
    assert.match(await logOf("unavailable", "unavailable", "ok"), /"error".*Redis cannot be reached/);
    assert.match(await logOf("wrong-password", "ok"), /wrong-password/);
  });

  it("waits for the end of the first attempt to connect, if the process is busy for that long", async (t) => {
    for (const [status, told] of [
      ["connecting", /^$/],
      ["connect", /^$/],
      ["reconnecting", /Redis cannot be reached/],
    ] as const) {
      t.mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
      const redis = Object.assign(new EventEmitter(), { status }) as unknown as Redis;
      const logged: string[] = [];
      const log = createLog({ level: "info", process: "test" }, { write: (line) => void logged.push(line) });
      const check = async () => problemOf("unavailable");
      const watch = watchRedis({ redis, keys: redisKeys("watch"), check, log, onDataLost: () => {} });

      t.mock.timers.tick(2000);
      await new Promise(setImmediate);

      assert.match(logged.join(""), told, status);
      watch.close();
      t.mock.timers.reset();
    }
  });
});
