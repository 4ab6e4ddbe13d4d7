import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { findProgram } from "../../scripts/find-program.ts";
import { freePort } from "../../scripts/scratch/ports.ts";
import { connectFast } from "../../shared/redis/connect.ts";
import { checkRedis } from "../../shared/redis/health.ts";
import { redisKeys } from "../../shared/redis/keys.ts";
import { sqlite } from "../helpers/databases.ts";
import { eventually, request } from "../helpers/http.ts";
import { redisServer, redisServerMissing, runIngress } from "../helpers/processes.ts";
import { startWorld, type World } from "../helpers/world.ts";

const openssl = findProgram(["openssl"]);
const missing = redisServerMissing || (openssl ? false : "there is no openssl on the PATH");

describe("a Redis with TLS", { skip: missing }, () => {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-tls-"));
  const [certificate, key] = [join(folder, "certificate.pem"), join(folder, "key.pem")];
  const servers: ChildProcess[] = [];
  let world: World;
  let ports: { redis: number; sentinel: number };

  before(async () => {
    const made = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"];
    const files = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate];
    execFileSync(openssl ?? "", [...made, ...files], { stdio: "ignore" });
    ports = { redis: await freePort(), sentinel: await freePort() };
    start(ports.redis, ["maxmemory-policy noeviction", 'save ""']);
    start(ports.sentinel, [`sentinel monitor main 127.0.0.1 ${ports.redis} 1`], "--sentinel");
    world = await startWorld(sqlite);
  });
  after(async () => {
    await world?.close();
    for (const server of servers) {
      const gone = once(server, "exit");
      server.kill("SIGKILL");
      await gone;
    }
    rmSync(folder, { recursive: true, force: true });
  });

  function start(port: number, settings: string[], ...options: string[]): void {
    const file = join(folder, `${port}.conf`);
    const tls = [`tls-cert-file ${certificate}`, `tls-key-file ${key}`, `tls-ca-cert-file ${certificate}`];
    const lines = ["bind 127.0.0.1", "port 0", `tls-port ${port}`, ...tls];
    writeFileSync(file, [...lines, "tls-auth-clients no", "tls-replication yes", ...settings].join("\n"));
    servers.push(spawn(redisServer ?? "", [file, ...options], { stdio: "ignore", cwd: folder }));
  }

  const seenBy = async (redisUrl: string, trusted: Record<string, string>, expected: string) => {
    const settings = { DATABASE_URL: world.config.databaseUrl, REDIS_URL: redisUrl, ...trusted };
    const ingress = await runIngress(settings);
    const state = await eventually(`Redis, ${expected}`, async () => {
      const { body } = await request(`${ingress.url}/readyz`);
      return body.parts.redis === expected && body.parts.redis;
    });
    await ingress.kill();
    return state;
  };
  const trusted = { NODE_EXTRA_CA_CERTS: certificate };

  it("is used by its address, and by sentinels with TLS", async () => {
    const own = await seenBy(`rediss://127.0.0.1:${ports.redis}`, trusted, "ok");
    const bySentinels = await seenBy(`rediss+sentinel://127.0.0.1:${ports.sentinel}/main`, trusted, "ok");

    assert.deepEqual([own, bySentinels], ["ok", "ok"]);
  });

  it("is not used with a certificate that nobody trusts", async () => {
    assert.equal(await seenBy(`rediss://127.0.0.1:${ports.redis}`, {}, "untrusted"), "untrusted");
  });

  it("is not used with a certificate of another name", async () => {
    assert.equal(await seenBy(`rediss://localhost:${ports.redis}`, trusted, "untrusted"), "untrusted");
  });

  it("is named as the cause when the address says that it has none", async () => {
    const redis = connectFast(`redis://127.0.0.1:${ports.redis}`);
    const cause = await eventually("the cause", async () => {
      const { cause = "" } = await checkRedis(redis, redisKeys("signalbox"));
      return cause.includes("rediss://") && cause;
    });
    redis.disconnect();
    assert.match(cause, /closes connections without an answer/);
  });
});
