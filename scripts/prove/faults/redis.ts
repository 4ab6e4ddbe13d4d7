import { between } from "../random.ts";
import { type Fault, signalServer } from "./fault.ts";

export const redisFaults: Fault[] = [
  {
    kind: "redis-kill",
    summary: "kill -9 of Redis",
    weight: 1,
    inject: async ({ servers }) => signalServer(servers, "redis", "SIGKILL"),
  },
  {
    kind: "redis-restart",
    summary: "SIGTERM to Redis, which starts again a second later",
    weight: 1,
    inject: async ({ servers }) => signalServer(servers, "redis", "SIGTERM"),
  },
  {
    kind: "redis-freeze",
    summary: "SIGSTOP of Redis, SIGCONT after 0.3 to 3 s",
    weight: 2,
    async inject({ servers }, random) {
      const ms = between(random, 300, 3000);
      const frozen = signalServer(servers, "redis", "SIGSTOP");
      return frozen && { ...frozen, lasting: { ms, undo: () => servers.signal("redis", "SIGCONT") } };
    },
  },
  {
    kind: "redis-flush",
    summary: "FLUSHALL",
    weight: 2,
    async inject({ redis }) {
      await redis.command("FLUSHALL");
      return { target: "redis" };
    },
  },
  {
    kind: "redis-loss",
    summary: "kill -9 of Redis, which comes back without its data",
    weight: 1,
    async inject({ servers, redis }) {
      const killed = signalServer(servers, "redis", "SIGKILL");
      if (killed) redis.loseData();
      return killed;
    },
  },
  {
    kind: "redis-clients",
    summary: "CLIENT KILL of all connections of Redis",
    weight: 2,
    async inject({ redis }) {
      await redis.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
      return { target: "redis" };
    },
  },
];
