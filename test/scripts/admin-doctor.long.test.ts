import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { eq } from "drizzle-orm";
import { artifactBlob } from "../../shared/blobs/blobs.ts";
import { markOwner } from "../../shared/blobs/owner.ts";
import { putSharedValue } from "../../shared/db/shared-values-store.ts";
import { addToTotals } from "../../shared/retention/totals-store.ts";
import { acceptClock } from "../../shared/services/clock-guard.ts";
import { newJob } from "../agents/logs/jobs-with-logs.ts";
import { leaveArtifact } from "../artifacts/left-by-job.ts";
import { chunks, expect } from "../blobs/contract.ts";
import { describeWorld } from "../helpers/databases.ts";
import { eventually } from "../helpers/http.ts";
import { openAcme } from "../helpers/organization.ts";
import { redisServerMissing, startRedis } from "../helpers/processes.ts";
import { runOperator } from "./operator.ts";

interface Finding {
  check: string;
  state: "ok" | "warning" | "problem";
  found: string;
  fix?: string;
}

describeWorld("admin doctor", openAcme, (world, database) => {
  const reported = (count: number) =>
    eventually("reports", async () => (await world.services.processes.list())?.length === count);
  const run = async (settings: Record<string, string> = {}, isTerminal = false, ...options: string[]) => {
    const env = { PUBLIC_URL: world.url, PORT: new URL(world.url).port, ...settings };
    const { code, stdout, stderr } = await runOperator(world, ["doctor", ...options], { env, isTerminal });
    assert.equal(stderr, "");
    return { code, stdout };
  };
  const examine = async (settings?: Record<string, string>, ...options: string[]) => {
    const { code, stdout } = await run(settings, false, ...options);
    const { healthy, findings } = JSON.parse(stdout) as { healthy: boolean; findings: Finding[] };
    assert.equal(code, healthy ? 0 : 1);
    for (const { state, fix } of findings) assert.equal(fix !== undefined, state !== "ok");
    const say = (check: string) =>
      findings
        .filter((each) => each.check === check)
        .map(({ state, found, fix }) => `${state}: ${found} → ${fix}`);
    return { healthy, findings, say };
  };

  it("finds no problem while an ingress and a worker report", async () => {
    const another = await world.another();
    world.services.processes.report("ingress");
    another.services.processes.report("worker:deliveries+maintenance+dispatch+notifications");
    await reported(2);

    const { healthy, findings, say } = await examine();
    const { stdout } = await run({}, true);
    await world.services.processes.close();
    await another.services.processes.close();

    assert.deepEqual(
      findings.filter(({ state }) => state === "problem"),
      [],
    );
    assert.equal(healthy, true);
    assert.match(String(say("processes")), /ok: 1 ingress, 1 worker; on 1 host/);
    assert.match(String(say("database")), /answers, is migrated and can be written/);
    assert.match(String(say("port")), /An ingress answers/);
    assert.match(stdout, /→ Set it, and scrape \/metrics\n/);
    assert.match(stdout, /\nProblems: 0\. Warnings: \d\.\n$/);
  });

  it("misses processes that do not report", async () => {
    world.services.processes.report("worker:dispatch");
    await reported(1);
    const { say } = await examine();
    await world.services.processes.close();

    const [ingress, worker] = say("processes");
    assert.match(ingress ?? "", /problem: No ingress reports → Start one/);
    assert.match(worker ?? "", /problem: No worker reports for deliveries, maintenance, notifications →/);
  });

  it("looks at addresses and proxies", async () => {
    const other = createServer((_, response) => response.end("{}")).listen(0, "127.0.0.1");
    await once(other, "listening");
    const port = String((other.address() as AddressInfo).port);

    const taken = await examine({ PORT: port, PUBLIC_URL: `http://127.0.0.1:${port}` });
    const plain = await examine({ PUBLIC_URL: "http://ci.example.com" });
    const proxied = await examine({ PUBLIC_URL: "https://localhost:1" });
    other.close();

    assert.match(String(taken.say("port")), /problem: Another program answers/);
    assert.match(String(taken.say("public address")), /problem: .* is not answered by this installation/);
    assert.match(String(plain.say("public address")), /problem: .* is plain http.*https address/);
    assert.match(String(proxied.say("public address")), /warning: .* does not answer/);
    assert.match(String(proxied.say("trusted proxies")), /problem: .* TRUSTED_PROXIES is empty/);
  });

  it("looks at the secret key, the clock and settings", async () => {
    const { db } = world.services;
    const wrong = await examine({ SECRET_KEY: "another key of at least 32 characters" });
    await db.transaction((tx) => putSharedValue(tx, "clock_doubt", "no worker has run for 9 days"));
    const doubted = await examine();
    await db.transaction((tx) => putSharedValue(tx, "clock_doubt", ""));
    await acceptClock(world.services);
    const unset = await examine({ PORT: "x", MAX_CONNECTIONS: "many" });
    const crowded = await examine({ MAX_CONNECTIONS: "100000000" });

    assert.match(String(wrong.say("secret key")), /problem: SECRET_KEY is not the key.*SECRET_KEY_PREVIOUS/);
    assert.match(String(doubted.say("clocks")), /problem: Nothing is deleted by age: .*clock accept/);
    assert.deepEqual(
      unset.findings.map(({ check }) => check),
      ["settings", "settings"],
    );
    assert.match(String(crowded.say("open files")), /warning: .*LimitNOFILE/);
  });

  it("names organizations that lose their oldest logs and payloads", async () => {
    const { db, clock, config } = world.services;
    const bytes = config.logBytesPerOrganization * 0.95;
    await db.transaction((tx) =>
      addToTotals(tx, tx.tables.logTotals, clock.now(), [{ organizationId: world.acme.id, bytes }]),
    );
    const store = (storedBytes: number) =>
      db.transaction((tx) => {
        const { organizations } = tx.tables;
        return tx
          .update(organizations)
          .set({ storedBytes, keptBytes: storedBytes })
          .where(eq(organizations.id, world.acme.id));
      });
    await store(config.storedBytesPerOrganization);
    const { say } = await examine();
    await store(0);

    assert.match(String(say("stored bytes")), /warning: Near or over 70 GB: acme \(full\).*STORED_BYTES_/);
    assert.match(String(say("logs")), /warning: One organization is near .*acme.*LOG_BYTES_PER_ORGANIZATION/);
    assert.match(String(say("payloads")), /^ok/);
  });

  it("finds artifacts whose bytes are missing, and the store of another installation", async () => {
    const { services } = world;
    const job = await newJob(services, world.acme);
    const content = Buffer.from("text");
    const stored = await leaveArtifact(services, job, { path: "stored" });
    await services.blobs.write(artifactBlob(stored.id), chunks(content), expect(content));
    assert.match(
      String((await examine()).say("store of artifacts")),
      /^ok: .* has the bytes of the newest 1 artifacts →/,
    );

    const missing = await leaveArtifact(services, job, { path: "missing" });

    const said = String((await examine()).say("store of artifacts"));
    assert.match(said, /^problem: .* lacks the bytes of 1 of the newest 2 artifacts, such as /);
    assert.ok(said.includes(missing.id));
    await markOwner(services.blobs, "another");
    assert.match(
      String((await examine()).say("store of artifacts")),
      /^problem: .* is the store of another installation →/,
    );
    await services.blobs.delete(["installation"]);
    await services.db.transaction((tx) =>
      tx.update(tx.tables.artifacts).set({ state: "deleted" }).where(eq(tx.tables.artifacts.id, missing.id)),
    );
  });

  it("reads all artifacts with --bytes, and names those with other bytes", async () => {
    const { services } = world;
    const job = await newJob(services, world.acme);
    const content = Buffer.from("text");
    const changed = await leaveArtifact(services, job, { path: "changed" });
    const gone = await leaveArtifact(services, job, { path: "gone" });
    for (const { id } of [changed, gone])
      await services.blobs.write(artifactBlob(id), chunks(content), expect(content));
    const sound = (await examine({}, "--bytes")).say("bytes of artifacts");
    const other = Buffer.from("tExt");
    await services.blobs.write(artifactBlob(changed.id), chunks(other), expect(other));
    await services.blobs.delete([artifactBlob(gone.id)]);

    const damaged = String((await examine({}, "--bytes")).say("bytes of artifacts"));
    const unasked = (await examine()).say("bytes of artifacts");

    assert.match(String(sound), /^ok: All checksums are right: \d+ artifacts, /);
    assert.match(damaged, /^problem: .* lacks the bytes of 2 of /);
    assert.ok(damaged.includes(`${changed.id} (sha1)`), damaged);
    assert.ok(damaged.includes(`${gone.id} (missing)`), damaged);
    assert.deepEqual(unasked, []);
    await services.db.transaction((tx) =>
      tx.update(tx.tables.artifacts).set({ state: "deleted" }).where(eq(tx.tables.artifacts.jobId, job.id)),
    );
  });

  it("looks at Redis", { skip: redisServerMissing }, async () => {
    const redis = await startRedis();
    await redis.command("config", "set", "maxmemory-policy", "allkeys-lru");
    const evicting = await examine({ REDIS_URL: redis.url });
    await redis.command("config", "set", "maxmemory-policy", "noeviction");
    const plain = await examine({ REDIS_URL: redis.url });
    await redis.command("config", "set", "appendonly", "yes");
    const appending = await examine({ REDIS_URL: redis.url });
    await redis.stop();
    const away = await examine({ REDIS_URL: redis.url });
    await redis.close();

    assert.match(String(evicting.say("Redis")), /problem: Redis may evict keys → set its maxmemory-policy/);
    assert.match(String(plain.say("Redis on disk")), /warning: It keeps nothing.*appendonly/);
    assert.match(String(appending.say("Redis on disk")), /ok: It appends/);
    assert.match(String(away.say("Redis")), /problem: Redis cannot be reached.* → start it/);
    assert.deepEqual(away.say("processes"), []);
  });

  it("reports a database that is not there, and makes none", async () => {
    const urls = { sqlite: "file:/nonexistent/x.db", postgres: "postgres://box@127.0.0.1:1/box" };
    const { healthy, findings } = await examine({ DATABASE_URL: urls[database.dialect] });

    assert.equal(healthy, false);
    assert.match(
      findings.find(({ check }) => check === "database")?.found ?? "",
      /There is no|cannot be reached/,
    );
  });

  it("goes on when a SQLite file cannot be opened", async () => {
    const folder = mkdtempSync(join(tmpdir(), "signalbox-doctor-"));
    const { say } = await examine({ DATABASE_URL: `file:${folder}` });
    rmSync(folder, { recursive: true });

    assert.match(
      String(say("database")),
      /^problem: \S+ cannot be opened for writing \(.*\) → give the user/,
    );
    assert.match(String(say("Redis")), /^ok: /);
    assert.match(String(say("stored bytes")), /^warning: Not checked, as it needs the database/);
  });
});
