import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { freePort, untilListening } from "../../scratch/ports.ts";
import type { Scratch } from "../../scratch/scratch.ts";
import { isSoon } from "../../scratch/wait.ts";

/** `everysec` loses a second in a crash; `always` syncs before each answer. */
export type Fsync = "everysec" | "always";

export type ScratchRedis = Awaited<ReturnType<typeof startRedis>>;

/** Lets cut-off requests of a turn finish. */
const settleMs = 150;

export async function startRedis(scratch: Scratch) {
  const port = await freePort();
  const { pid = 0 } = scratch.startProgram("redis", "redis-server", {
    args: ["--bind", "127.0.0.1", "--port", String(port), "--dir", scratch.dir].concat(
      ["--save", "", "--appendonly", "yes", "--appendfsync", "everysec"],
      // Rewrites would be noise during rounds.
      ["--auto-aof-rewrite-percentage", "0", "--maxmemory-policy", "noeviction"],
    ),
  });
  await untilListening(port);
  const url = `redis://127.0.0.1:${port}`;
  const client = new Redis(url);
  client.on("error", () => {}); // Scratch reports its death
  scratch.onClose(() => client.disconnect());
  const setFsync = (mode: Fsync) => client.config("SET", "appendfsync", mode);
  const isRewriting = async () =>
    /aof_rewrite_(in_progress|scheduled):1/.test(await client.info("persistence"));
  return {
    url,
    pid,
    setFsync,
    /** Empties memory and disk: turns start alike. */
    async prepare(mode: Fsync): Promise<void> {
      await sleep(settleMs);
      await setFsync(mode);
      await client.flushall();
      await client.bgrewriteaof();
      await isSoon(async () => !(await isRewriting()));
    },
  };
}
