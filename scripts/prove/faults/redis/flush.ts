import type { Fault } from "../fault.ts";

export const redisFlush: Fault = {
  kind: "redis-flush",
  summary: "FLUSHALL",
  weight: 2,
  async inject({ redis }) {
    await redis.command("FLUSHALL");
    return { target: "redis" };
  },
};
