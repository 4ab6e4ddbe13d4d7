import { hostname } from "node:os";
import type { Redis } from "ioredis";
import { dayMs, secondMs } from "../durations.ts";
import type { Breaker } from "./breaker.ts";
import type { RedisKeys } from "./keys.ts";

export interface ReportedProcess {
  /** The name in its log lines: `ingress`, `worker:deliveries+dispatch`. */
  name: string;
  host: string;
  pid: number;
  /** ISO 8601. */
  startedAt: string;
}

/** Processes that run. */
export interface Processes {
  /** Reports this process until `close`. */
  report(name: string): void;
  /** At most 100, oldest report first. Undefined while Redis is away. */
  list(): Promise<ReportedProcess[] | undefined>;
  close(): Promise<void>;
}

const reportEveryMs = 10 * secondMs;
/** A busy process reports late, and a killed one not at all. */
const goneAfterMs = 60 * secondMs;
const maxListed = 100;

export function createProcesses(options: { redis: Redis; keys: RedisKeys; breaker: Breaker }): Processes {
  const { redis, keys, breaker } = options;
  let timer: NodeJS.Timeout | undefined;
  let description: string | undefined;

  /** Runs a command with the time of Redis: clocks of machines differ. */
  const withTime = <T>(command: (nowMs: number) => Promise<T>) =>
    breaker.try(async () => command(Number((await redis.time())[0]) * secondMs));
  const send = () =>
    withTime((nowMs) =>
      redis
        .multi()
        .zadd(keys.processes, nowMs, description ?? "")
        .zremrangebyscore(keys.processes, "-inf", nowMs - goneAfterMs)
        .pexpire(keys.processes, dayMs)
        .exec(),
    );

  return {
    report(name) {
      const startedAt = new Date().toISOString();
      description = JSON.stringify({ name, host: hostname(), pid: process.pid, startedAt });
      void send();
      timer = setInterval(send, reportEveryMs);
      redis.on("ready", send);
    },
    async list() {
      const members = await withTime((nowMs) =>
        redis.zrangebyscore(keys.processes, nowMs - goneAfterMs, "+inf", "LIMIT", 0, maxListed),
      );
      return members?.map((member) => JSON.parse(member) as ReportedProcess);
    },
    async close() {
      clearInterval(timer);
      redis.off("ready", send);
      const member = description;
      if (member) await breaker.try(() => redis.zrem(keys.processes, member));
    },
  };
}
