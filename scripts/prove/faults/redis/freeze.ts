import { between } from "../../random.ts";
import type { Fault } from "../fault.ts";

export const redisFreeze: Fault = {
  kind: "redis-freeze",
  summary: "SIGSTOP of Redis, SIGCONT after 0.3 to 3 s",
  weight: 2,
  async inject({ servers }, random) {
    const ms = between(random, 300, 3000);
    if (servers.pidOf("redis") === undefined) return undefined;
    servers.signal("redis", "SIGSTOP");
    return { target: "redis", lasting: { ms, undo: () => servers.signal("redis", "SIGCONT") } };
  },
};
