import type { Fault } from "../fault.ts";

export const redisRestart: Fault = {
  kind: "redis-restart",
  summary: "SIGTERM to Redis, which starts again a second later",
  weight: 1,
  async inject({ servers }) {
    if (servers.pidOf("redis") === undefined) return undefined;
    servers.signal("redis", "SIGTERM");
    return { target: "redis" };
  },
};
