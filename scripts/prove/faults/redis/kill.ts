import type { Fault } from "../fault.ts";

export const redisKill: Fault = {
  kind: "redis-kill",
  summary: "kill -9 of Redis",
  weight: 1,
  async inject({ servers }) {
    if (servers.pidOf("redis") === undefined) return undefined;
    servers.signal("redis", "SIGKILL");
    return { target: "redis" };
  },
};
