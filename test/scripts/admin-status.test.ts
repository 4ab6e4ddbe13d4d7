import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { Queue } from "bullmq";
import { eq } from "drizzle-orm";
import { Redis } from "ioredis";
import { fitWindow } from "../../scripts/admin/status/show.ts";
import { pauseDispatch } from "../../shared/dispatch/pause.ts";
import { hourMs } from "../../shared/durations.ts";
import { createBuildsJob, doTasksJob, evictPayloadsJob } from "../../shared/jobs/contracts.ts";
import { redisKeys } from "../../shared/redis/keys.ts";
import { buildWebhook } from "../helpers/builds.ts";
import { describeWorld } from "../helpers/databases.ts";
import { eventually, post } from "../helpers/http.ts";
import { openAcme } from "../helpers/organization.ts";
import { secretKey, settingsOf } from "../helpers/world.ts";
import { operatorOf, runOperator } from "./operator.ts";

describeWorld("what operators see of an installation", openAcme, (world, database) => {
  const { admin } = operatorOf(world);
  const run = (args: string[], given?: Parameters<typeof runOperator>[2]) => runOperator(world, args, given);

  it("goes on after a part that fails for a reason of its own, as doctor does", async () => {
    const redis = new Redis(world.config.redisUrl);
    const { processes } = redisKeys(world.config.redisPrefix);
    await redis.zadd(processes, Date.now(), "no JSON");

    const status = await admin("status");
    const { code, stdout } = await run(["doctor"]);
    await redis.del(processes);
    await redis.quit();
    const { findings } = JSON.parse(stdout) as { findings: { check: string; found: string }[] };

    assert.equal(status.processes, null);
    assert.match(String(status.problems), /^A part could not be read: .*JSON/);
    assert.equal(typeof status.agents.connected, "number");
    assert.equal(code, 1);
    const saidOf = (name: string) =>
      String(findings.filter(({ check }) => check === name).map((each) => each.found));
    assert.match(saidOf("processes"), /^It could not be checked: .*JSON/);
    assert.match(saidOf("stored bytes"), /^No organization is near/);
  });

  it("shows the other parts when the database cannot be opened", async () => {
    const folder = mkdtempSync(join(tmpdir(), "signalbox-status-"));
    writeFileSync(join(folder, "file"), "");
    const urls = {
      sqlite: [`file:${folder}`, `file:${folder}/file/box.db`, `file:${folder}/file/data/box.db`],
      postgres: ["postgres://box@127.0.0.1:1/box"],
    };
    const cause = {
      sqlite: /^\/\S+ cannot be opened for writing \(/,
      postgres: /^The database cannot be reached \(/,
    };

    for (const url of urls[database.dialect]) {
      const env = { SECRET_KEY: secretKey, ...settingsOf(world), DATABASE_URL: url };
      const { code, stdout, stderr } = await run(["status"], { env });
      const screen = await run(["status"], { env, isTerminal: true });

      assert.deepEqual([code, stderr], [0, ""]);
      const { processes, background_jobs, agents, disk, problems } = JSON.parse(stdout);
      assert.deepEqual([processes, agents, disk], [[], null, null]);
      assert.equal(typeof background_jobs.maintenance.waiting, "number");
      assert.equal(problems.length, 1);
      assert.match(problems[0], cause[database.dialect]);
      assert.equal(screen.code, 0);
      assert.ok(screen.stdout.includes(problems[0]));
    }
    rmSync(folder, { recursive: true });
  });

  it("shows what waits, runs, is paused and was refused", async () => {
    const { path, id } = await world.acme.trigger({ label: "Hook" });
    await buildWebhook(world, path);
    const undecided = await post(world.url + path, "{}");
    await pauseDispatch(
      world.services,
      world.acme.operator,
      world.acme.queue,
      "No \u001b[31mpower\u001b]0;x\u0007\u009b2J\nat all",
    );
    const later = world.clock.now().getTime();
    await world.services.db.transaction((tx) =>
      tx.insertMany(tx.tables.refusedDeliveries, [
        {
          triggerId: id,
          organizationId: world.acme.id,
          hour: new Date(later),
          cause: "invalid_signature",
          count: 3,
        },
      ]),
    );
    const { organizations } = world.services.db.tables;
    const store = (storedBytes: number, keptBytes: number) =>
      world.services.db.transaction((tx) =>
        tx.update(organizations).set({ storedBytes, keptBytes }).where(eq(organizations.id, world.acme.id)),
      );
    await store(71 * 1024 ** 3, 70 * 1024 ** 3);
    world.services.processes.report("ingress");
    await eventually("the report", async () => (await world.services.processes.list())?.length === 1);

    const status = await admin("status");
    const { stdout: screen } = await run(["status"], { isTerminal: true });
    await world.services.processes.close();

    assert.equal(status.processes[0].name, "ingress");
    assert.deepEqual(Object.keys(status.background_jobs), [
      "deliveries",
      "maintenance",
      "dispatch",
      "notifications",
    ]);
    assert.equal(status.deliveries.undecided, 1);
    assert.equal(undecided.status, 201);
    assert.ok(Date.parse(status.deliveries.oldest_received_at) <= later);
    const place = { organization: "acme", cluster: "Primary", queue: "default" };
    assert.deepEqual(status.queues, [{ ...place, waiting: 1, running: 0 }]);
    assert.deepEqual(
      [status.paused_queues[0].queue, status.paused_queues[0].note],
      ["default", "No \u001b[31mpower\u001b]0;x\u0007\u009b2J\nat all"],
    );
    assert.deepEqual(status.refused.causes, { invalid_signature: 3 });
    assert.deepEqual(status.agents, { connected: 0 });
    assert.equal(status.disk.free_bytes === null, database.dialect === "postgres");
    assert.ok(status.disk.database_bytes > 0);
    assert.match(screen, /\n {2}1 wait to be built, the oldest for \d+ s\n/);
    assert.match(screen, /\n {2}acme \/ Primary \/ default: 1 waiting, 0 running\n/);
    assert.match(screen, /\n {2}acme \/ Primary \/ default since [^\n]*: No power\n/);
    assert.match(screen, /invalid_signature 3/);
    const limit = 70 * 1024 ** 3;
    assert.deepEqual(status.nearly_full, [
      { organization: "acme", stored_bytes: 71 * 1024 ** 3, limit, is_full: true },
    ]);
    assert.match(screen, /\n {2}acme: 71 GB of 70 GB, full: new builds are refused\n/);
    await store(0, 0);
  });

  it("repeats it as a line each until it is interrupted", async () => {
    const interrupted = new AbortController();
    let lines = 0;
    const write = () => {
      if (++lines === 2) interrupted.abort();
    };
    const untilInterrupted = () => interrupted.signal;
    const { code, stderr } = await run(["status", "--watch"], { write, untilInterrupted });

    assert.deepEqual([code, lines, stderr], [0, 2, ""]);
  });

  it("lists background jobs by name, and drops them", async () => {
    const { jobs } = world.services;
    await jobs.send(createBuildsJob);
    await jobs.send(doTasksJob);
    await jobs.send(evictPayloadsJob);

    const { jobs: waiting } = await admin("jobs", "list", "--state", "waiting", "--limit", "100");
    const ofDispatch = waiting.filter((job: { queue: string }) => job.queue === "dispatch");
    const dropped = await admin("jobs", "drop", "--queue", "dispatch", ofDispatch[0].id);
    const again = await run(["jobs", "drop", "--queue", "dispatch", ofDispatch[0].id]);
    const early = await run(["jobs", "retry", "--queue", "maintenance", onlyId(waiting, "evict-payloads")]);

    assert.deepEqual(dropped.jobs, [{ id: ofDispatch[0].id, name: "do-tasks", dropped: true }]);
    assert.match(again.stderr, /^No background job ".*" found in dispatch\n$/);
    assert.match(early.stderr, /^The job .* stays as it is: [^\n]*\n$/);
  });

  it("retries failed background jobs", async () => {
    const { jobs } = world.services;
    const redis = new Redis(world.config.redisUrl, { maxRetriesPerRequest: null });
    const maintenance = new Queue("maintenance", {
      connection: redis,
      prefix: redisKeys(world.config.redisPrefix).jobs,
    });
    await maintenance.add("of-another-version", {}, { timestamp: Date.now() - hourMs - 1 });
    await maintenance.close();
    redis.disconnect();
    await world.startWorkers();
    const [failed] = await eventually("the failure", async () => {
      const found = await jobs.listJobs("maintenance", "failed", 10);
      return found?.[0] && found;
    });

    // The command cannot wait for a transaction of the worker, which has the same thread.
    const whileWorking = (...args: string[]) =>
      eventually(args.join(" "), async () => {
        const { code, stdout } = await run(args);
        return code === 0 && JSON.parse(stdout);
      });
    const listed = await whileWorking("jobs", "list", "--queue", "maintenance");
    const retried = await whileWorking("jobs", "retry", "--queue", "maintenance", failed?.id ?? "");

    assert.deepEqual([listed.jobs[0].name, listed.jobs[0].about], ["of-another-version", undefined]);
    assert.match(listed.jobs[0].failure, /no worker knows/);
    assert.deepEqual(retried.jobs, [{ id: failed?.id, name: "of-another-version", retried: true }]);
  });
});

function onlyId(jobs: { id: string; name: string }[], name: string): string {
  return jobs.find((job) => job.name === name)?.id ?? "";
}

const screen = ["one", "two", "three is long", "four", "five"].join("\n");

describe("the screen of status --watch", () => {
  it("stays as it is in a large window", () => {
    assert.equal(fitWindow(screen, { columns: 80, rows: 6 }), screen);
  });

  it("is cut to the columns and rows of a small one, and says so", () => {
    assert.equal(
      fitWindow(screen, { columns: 60, rows: 5 }),
      "one\ntwo\nthree is long\n… 2 more lines: status without --watch has all",
    );
    assert.equal(fitWindow("three is long", { columns: 8, rows: 24 }), "three i…");
  });
});
