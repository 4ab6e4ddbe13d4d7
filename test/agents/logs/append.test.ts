import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { beforeEach, it } from "node:test";
import { gzipSync } from "node:zlib";
import { asc, count, eq } from "drizzle-orm";
import { openLogIntake } from "../../../shared/agents/logs/append.ts";
import { readBytes } from "../../../shared/agents/logs/read.ts";
import { findLog } from "../../../shared/agents/logs/store.ts";
import type { Refusal } from "../../../shared/refusal.ts";
import { openApi } from "../../helpers/api.ts";
import { describeWorld, withSettings } from "../../helpers/databases.ts";
import { type LoggedJob, leaseJob, newJob } from "./jobs-with-logs.ts";

const limit = 4096;

describeWorld("chunks of a log", withSettings(openApi, { JOB_LOG_BYTES: String(limit) }), (api) => {
  let job: LoggedJob;

  beforeEach(async () => {
    job = await leaseJob(api.world.services, await newJob(api.world.services, api.acme));
  });

  const logOf = ({ lease }: LoggedJob) => findLog(api.world.services.db, lease);
  const textOf = async (logged: LoggedJob, isOpen = false) => {
    const log = await logOf(logged);
    if (!log) return undefined;
    return (await buffer(readBytes(api.world.services.db, { log, isOpen }))).toString();
  };
  const bytesOf = async ({ lease }: LoggedJob) => {
    const log = await findLog(api.world.services.db, lease);
    assert.ok(log);
    return buffer(readBytes(api.world.services.db, { log, isOpen: false }));
  };
  const rangesOf = async ({ lease }: LoggedJob) => {
    const { jobLogChunks } = api.world.services.db.tables;
    const rows = await api.world.services.db
      .select()
      .from(jobLogChunks)
      .where(eq(jobLogChunks.jobId, lease.jobId))
      .orderBy(asc(jobLogChunks.start));
    return rows.map(({ start, size }) => [start, start + size] as const);
  };
  const countChunks = async ({ lease }: LoggedJob) => {
    const { jobLogChunks } = api.world.services.db.tables;
    const [row] = await api.world.services.db
      .select({ total: count() })
      .from(jobLogChunks)
      .where(eq(jobLogChunks.jobId, lease.jobId));
    return row?.total;
  };
  const isRefused = (status: number) => (error: Refusal) => error.status === status;

  it("may come in any order, and twice", async () => {
    await Promise.all([
      job.send(3, 6, "three\n"),
      job.send(1, 0, "one"),
      job.send(2, 3, "TWO"),
      job.send(1, 0, "one"),
    ]);
    await job.send(2, 3, "TWO");

    assert.equal(await textOf(job), "oneTWOthree\n");
    assert.equal(await countChunks(job), 3);
    assert.equal((await logOf(job))?.size, 12);
  });

  it("go to the end without a place, though many come at once", async () => {
    await job.send(1, 0, "begin ");
    const other = openLogIntake(api.world.services); // of another process
    const texts = Array.from({ length: 20 }, (_, index) => `<${index}>`);
    await Promise.all(
      texts.map((text, index) =>
        (index % 2 ? other : job.intake).append(job.lease, {
          sequence: index < 10 ? index + 2 : undefined,
          start: undefined,
          body: Buffer.from(text),
          isGzip: false,
        }),
      ),
    );

    const log = (await textOf(job)) ?? "";
    assert.equal(log.length, `begin ${texts.join("")}`.length);
    for (const text of ["begin ", ...texts]) assert.ok(log.includes(text), text);
  });

  it("without a place fill the log to its limit", async () => {
    await job.send(1, 0, "a".repeat(limit - 2));
    for (const sequence of [2, 3])
      await job.intake.append(job.lease, {
        sequence,
        start: undefined,
        body: Buffer.from("bcd"),
        isGzip: false,
      });

    const log = await logOf(job);
    assert.deepEqual([log?.size, log?.droppedBytes], [limit, 3]);
    assert.match((await textOf(job)) ?? "", /abc\n\[The log/);
  });

  it("share a commit with those of other jobs, each with its own answer", async () => {
    const other = await leaseJob(api.world.services, await newJob(api.world.services, api.acme), job.intake);
    const ended = await leaseJob(api.world.services, await newJob(api.world.services, api.acme), job.intake);
    await ended.finish();

    const outcomes = await Promise.allSettled([
      job.send(1, 0, "a"),
      ended.send(1, 0, "late"),
      other.send(1, 0, "b"),
    ]);

    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ["fulfilled", "rejected", "fulfilled"],
    );
    assert.deepEqual([await textOf(job), await textOf(other), await textOf(ended)], ["a", "b", undefined]);
  });

  it("are refused with 404 after the attempt ended, from another attempt and from another agent", async () => {
    await job.send(1, 0, "kept");
    await job.setState("canceling");
    await job.send(2, 4, " too");
    const { intake, lease } = job;
    const chunk = { sequence: 3, start: 8, body: gzipSync("late"), isGzip: true };

    await assert.rejects(intake.append({ ...lease, attempt: 2 }, chunk), isRefused(404));
    await assert.rejects(intake.append({ ...lease, agentId: lease.jobId }, chunk), isRefused(404));
    await job.finish();
    await assert.rejects(intake.append(lease, chunk), isRefused(404));

    assert.equal(await textOf(job), "kept too");
  });

  it("are dropped beyond JOB_LOG_BYTES, and the log says so", async () => {
    await job.send(1, 0, "a".repeat(limit - 1));
    await job.send(2, limit - 1, "bcd");
    await job.send(2, limit - 1, "bcd");
    await job.send(3, limit + 2, "e");

    const log = await logOf(job);
    assert.deepEqual([log?.size, log?.droppedBytes], [limit, 3]);
    assert.equal(
      await textOf(job),
      `${"a".repeat(limit - 1)}b\n[The log, or all that its organization stores, is larger than the limit. The rest is not kept.]\n`,
    );
  });

  it("are refused for good when they are no gzip, or too large", async () => {
    const { intake, lease } = job;
    const chunk = { sequence: 1, start: 0 };
    const bomb = gzipSync(Buffer.alloc(10_000_000));

    await assert.rejects(
      intake.append(lease, { ...chunk, body: Buffer.from("plain"), isGzip: true }),
      isRefused(400),
    );
    await assert.rejects(
      intake.append(lease, { ...chunk, body: gzipSync("whole").subarray(0, 12), isGzip: true }),
      isRefused(400),
    );
    await assert.rejects(intake.append(lease, { ...chunk, body: bomb, isGzip: true }), isRefused(413));
    await assert.rejects(
      intake.append(lease, { ...chunk, body: Buffer.alloc(102_401), isGzip: false }),
      isRefused(413),
    );
    await intake.append(lease, { ...chunk, body: Buffer.from("plain"), isGzip: false });

    assert.equal(await textOf(job), "plain");
  });

  it("show only the beginning while others are missing, and afterwards the bytes that did not arrive", async () => {
    await job.send(1, 0, "one\n");
    await job.send(3, 8, "three\n");

    assert.equal(await textOf(job, true), "one\n");
    await job.finish();
    assert.equal(await textOf(job), "one\n\n[4 bytes of the log did not arrive.]\nthree\n");
  });

  it("that overlap show each byte once", async () => {
    await job.send(1, 0, "abcdef");
    await job.send(2, 2, "CD");
    await job.send(3, 4, "EFgh");

    assert.equal(await textOf(job), "abcdefgh");
  });

  it("that overlap add only new bytes to what is stored", async () => {
    const noise = randomBytes(limit);
    const send = (sequence: number, start: number, end: number) =>
      job.send(sequence, start, noise.subarray(start, end));

    await send(1, 100, 200);
    await send(2, 100, 200);
    await send(3, 120, 180);
    await send(4, 150, 300);
    await send(5, 50, 250);
    await send(6, 400, 500);
    await send(7, 350, 600);
    await send(8, 0, 1000);

    assert.deepEqual(await rangesOf(job), [
      [0, 1000],
      [50, 100],
      [100, 200],
      [200, 300],
      [350, 600],
      [400, 500],
    ]);
    assert.equal(Buffer.compare(await bytesOf(job), noise.subarray(0, 1000)), 0);
  });

  it("that overlap hundreds add only new bytes, also after a restart of the server", async () => {
    const noise = randomBytes(limit);
    const restarted = openLogIntake(api.world.services);
    const send = (sequence: number, intake = job.intake) => {
      const body = gzipSync(noise.subarray(sequence, sequence + 1000));
      return intake.append(job.lease, { sequence, start: sequence, body, isGzip: true });
    };

    await Promise.all(Array.from({ length: 110 }, (_, index) => send(index)));
    for (const sequence of [110, 111]) await send(sequence);
    for (const sequence of [112, 113]) await send(sequence, restarted);

    const size = 113 + 1000;
    assert.equal(Buffer.compare(await bytesOf(job), noise.subarray(0, size)), 0);
    const ranges = await rangesOf(job);
    assert.equal(
      ranges.reduce((sum, [start, end]) => sum + end - start, 0),
      size,
    );
  });

  it("that are padded stop being stored", async () => {
    const padding = gzipSync("");
    const body = Buffer.concat([gzipSync("x"), ...Array.from({ length: 500 }, () => padding)]);
    for (let start = 0; start < 150; start += 50)
      await Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          job.intake.append(job.lease, { sequence: start + index, start: start + index, body, isGzip: true }),
        ),
      );

    const log = await logOf(job);
    assert.ok(log && log.storedBytes <= 2 * limit + 1024 * 1024);
    assert.ok(log.droppedBytes > 0);
  });
});
