import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { freePort } from "../../scripts/scratch/ports.ts";
import { eventually } from "../helpers/http.ts";
import { redisServer, startRedis } from "../helpers/processes.ts";

type Server = Awaited<ReturnType<typeof startRedis>>;

const masterName = "main";
const quorum = 2;

/** A master, a replica, and three sentinels that make the replica the master when the master has gone. */
export async function startSentinels() {
  const servers = [await startRedis(), await startRedis()] as const;
  const [master, replica] = servers;
  await replica.command("replicaof", "127.0.0.1", portOf(master));
  await eventually("the replica", async () => String(await replica.command("role")).includes("connected"));

  const folder = mkdtempSync(join(tmpdir(), "signalbox-sentinels-"));
  const ports = [await freePort(), await freePort(), await freePort()];
  const sentinels = ports.map((port) => startSentinel(folder, port, portOf(master)));
  await eventually("sentinels that know each other and the replica", async () => {
    const known = await Promise.all(ports.map(knownBy));
    return known.every(({ replicas, others }) => replicas === 1 && others === ports.length - 1);
  });

  return {
    /** The address of one of them. */
    sentinel: `127.0.0.1:${ports[0]}`,
    url: `redis+sentinel://${ports.map((port) => `127.0.0.1:${port}`).join(",")}/${masterName}`,
    /** Ask the servers: sentinels may have changed the roles. */
    async findMaster(): Promise<Server | undefined> {
      for (const server of servers) {
        const role = await server.command("role").catch(() => []);
        if ((role as string[])[0] === "master") return server;
      }
      return undefined;
    },
    async close() {
      for (const sentinel of sentinels) await end(sentinel);
      for (const server of servers) await server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function startSentinel(folder: string, port: number, masterPort: string): ChildProcess {
  const file = join(folder, `${port}.conf`);
  const lines = [
    `port ${port}`,
    "bind 127.0.0.1",
    `sentinel monitor ${masterName} 127.0.0.1 ${masterPort} ${quorum}`,
    `sentinel down-after-milliseconds ${masterName} 5000`,
    `sentinel failover-timeout ${masterName} 10000`,
  ];
  writeFileSync(file, `${lines.join("\n")}\n`);
  return spawn(redisServer ?? "", [file, "--sentinel"], { stdio: "ignore" });
}

async function knownBy(port: number): Promise<{ replicas: number; others: number }> {
  const sentinel = new Redis({ port, host: "127.0.0.1", lazyConnect: true, retryStrategy: () => null });
  sentinel.on("error", () => {});
  try {
    await sentinel.connect();
    const fields = (await sentinel.call("sentinel", "master", masterName)) as string[];
    const numberOf = (name: string) => Number(fields[fields.indexOf(name) + 1]);
    return { replicas: numberOf("num-slaves"), others: numberOf("num-other-sentinels") };
  } catch {
    return { replicas: 0, others: 0 };
  } finally {
    sentinel.disconnect();
  }
}

function portOf({ url }: Server): string {
  return new URL(url).port;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}
