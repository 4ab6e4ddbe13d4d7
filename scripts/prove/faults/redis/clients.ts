import type { Fault } from "../fault.ts";

export const redisClients: Fault = {
  kind: "redis-clients",
  summary: "CLIENT KILL of all connections of Redis",
  weight: 2,
  async inject({ redis }) {
    await redis.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
    return { target: "redis" };
  },
};
