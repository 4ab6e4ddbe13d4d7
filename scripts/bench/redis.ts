import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { freePort, untilListening } from "./ports.ts";
import type { Scratch } from "./scratch.ts";

/** When Redis makes its log durable: once a second (an accident loses that second), or before each answer. */
export type Fsync = "everysec" | "always";

/** For what a turn leaves behind, such as requests that were cut off at its end. */
const settleMs = 150;

/** A redis-server for one run, with its append-only file in the scratch directory. */
export class ScratchRedis {
  readonly url: string;
  readonly #client: Redis;

  private constructor(url: string) {
    this.url = url;
    this.#client = new Redis(url, { lazyConnect: true });
    this.#client.on("error", () => {}); // Scratch tells when it dies
  }

  static async start(scratch: Scratch): Promise<ScratchRedis> {
    const port = await freePort();
    scratch.startProgram("redis", "redis-server", {
      args: ["--bind", "127.0.0.1", "--port", String(port), "--dir", scratch.dir].concat(
        ["--save", "", "--appendonly", "yes", "--appendfsync", "everysec"],
        // A rewrite that happens to fall into somebody's round would be noise: it is done between them.
        ["--auto-aof-rewrite-percentage", "0", "--maxmemory-policy", "noeviction"],
      ),
    });
    await untilListening(port);
    const redis = new ScratchRedis(`redis://127.0.0.1:${port}`);
    scratch.onClose(() => redis.#client.disconnect());
    await redis.#client.connect();
    return redis;
  }

  async setFsync(mode: Fsync): Promise<void> {
    await this.#client.config("SET", "appendfsync", mode);
  }

  /** The same start for everybody: nothing in memory or on disk, nothing of the last turn still to be written. */
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
