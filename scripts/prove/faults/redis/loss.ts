import type { Fault } from "../fault.ts";

export const redisLoss: Fault = {
  kind: "redis-loss",
  summary: "kill -9 of Redis, which comes back without its data",
  weight: 1,
  async inject({ servers, redis }) {
    if (servers.pidOf("redis") === undefined) return undefined;
    servers.signal("redis", "SIGKILL");
    redis.loseData();
    return { target: "redis" };
  },
};
