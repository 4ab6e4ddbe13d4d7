import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { freePort, untilListening } from "../scratch/ports.ts";
import type { Scratch } from "../scratch/scratch.ts";

/** `everysec` loses a second in a crash; `always` syncs before each answer. */
export type Fsync = "everysec" | "always";

/** Lets cut-off requests of a turn finish. */
const settleMs = 150;

export class ScratchRedis {
  readonly url: string;
  readonly pid: number | undefined;
  readonly #client: Redis;

  private constructor(url: string, pid: number | undefined) {
    this.url = url;
    this.pid = pid;
    this.#client = new Redis(url, { lazyConnect: true });
    this.#client.on("error", () => {}); // Scratch reports its death
  }

  static async start(scratch: Scratch): Promise<ScratchRedis> {
    const port = await freePort();
    const pid = scratch.startProgram("redis", "redis-server", {
      args: ["--bind", "127.0.0.1", "--port", String(port), "--dir", scratch.dir].concat(
        ["--save", "", "--appendonly", "yes", "--appendfsync", "everysec"],
        // Rewrites would be noise during rounds.
        ["--auto-aof-rewrite-percentage", "0", "--maxmemory-policy", "noeviction"],
      ),
    }).pid;
    await untilListening(port);
    const redis = new ScratchRedis(`redis://127.0.0.1:${port}`, pid);
    scratch.onClose(() => redis.#client.disconnect());
    await redis.#client.connect();
    return redis;
  }

  async setFsync(mode: Fsync): Promise<void> {
    await this.#client.config("SET", "appendfsync", mode);
  }

  /** Empties memory and disk: turns start alike. */
  async prepare(mode: Fsync): Promise<void> {
    await sleep(settleMs);
    await this.setFsync(mode);
    await this.#clear();
  }

  async #clear(): Promise<void> {
    await this.#client.flushall();
    await this.#client.bgrewriteaof();
    while (/aof_rewrite_(in_progress|scheduled):1/.test(await this.#client.info("persistence")))
      await sleep(10);
  }
}
