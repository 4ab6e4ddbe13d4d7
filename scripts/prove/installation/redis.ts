import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Redis } from "ioredis";
import { freePort } from "../../scratch/ports.ts";
import type { PlannedProcess } from "../../start/procfile.ts";

/** A Redis that is planned to run, with its files in a folder of the disk. */
export interface PlannedRedis {
  port: number;
  process: PlannedProcess;
  /** Deletes its files. */
  loseData(): void;
  /** Runs a command over a connection of its own. @throws Error while Redis is away */
  command(name: string, ...args: string[]): Promise<unknown>;
}

export async function planRedis(disk: string, program: string): Promise<PlannedRedis> {
  const port = await freePort();
  const folder = join(disk, "redis");
  mkdirSync(folder);
  const options = [
    ...["--bind 127.0.0.1", `--port ${port}`, `--dir ${folder}`, `--save '""'`],
    ...["--appendonly yes", "--appendfsync everysec", "--maxmemory-policy noeviction"],
  ];
  return {
    port,
    process: { name: "redis", kind: "redis", command: `exec ${program} ${options.join(" ")}` },
    loseData: () => rmSync(join(folder, "appendonlydir"), { recursive: true, force: true }),
    async command(name, ...args) {
      const redis = new Redis(port, "127.0.0.1", {
        lazyConnect: true,
        connectTimeout: 2000,
        commandTimeout: 2000,
        retryStrategy: () => null,
      });
      redis.on("error", () => {}); // the command rejects
      try {
        await redis.connect();
        return await redis.call(name, ...args);
      } finally {
        redis.disconnect();
      }
    },
  };
}
