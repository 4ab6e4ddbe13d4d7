import assert from "node:assert/strict";
import { before, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { and, count, eq, isNotNull } from "drizzle-orm";
import { openHandOut } from "../../shared/agents/hand-out/hand-out.ts";
import type { Job } from "../../shared/builds/rows/job-store.ts";
import { type HandingOut, openTaker } from "../helpers/agent.ts";
import { openApi } from "../helpers/api.ts";
import { describeWorld } from "../helpers/databases.ts";
import { eventually } from "../helpers/http.ts";

describeWorld("jobs of a queue", openApi, (api) => {
  let first: HandingOut;
  let second: HandingOut;

  before(async () => {
    [first, second] = [api.world, await api.world.another()].map(({ services }) => ({
      services,
      handOut: openHandOut(services),
    })) as [HandingOut, HandingOut];
  });

  const busyQueue = async (jobs: number) => {
    const { id, key } = await api.newQueue();
    const pipeline = await api.newPipeline({ steps: [{ command: "a", agents: { queue: key } }] });
    await api.build(pipeline.id, jobs);
    return id as string;
  };
  const takerOf = (queueId: string) => openTaker(api.world, api.acme.cluster, queueId);
  const dispatch = (id: string, verb: "pause" | "resume") =>
    api.send("POST", `${api.queues}/${id}/${verb}_dispatch`);
  const assignedJobs = async (queueId: string) => {
    const { db } = api.world.services;
    const { jobs } = db.tables;
    return db
      .select()
      .from(jobs)
      .where(and(eq(jobs.queueId, queueId), isNotNull(jobs.assignedAt)));
  };
  const countAssigned = async (queueId: string) => {
    const { db } = api.world.services;
    const { jobs } = db.tables;
    const of = and(eq(jobs.queueId, queueId), isNotNull(jobs.assignedAt));
    const [row] = await db.select({ total: count() }).from(jobs).where(of);
    return row?.total ?? 0;
  };

  it("are assigned oldest first and once each, with several agents in two processes", async () => {
    const id = await busyQueue(24);
    const take = await takerOf(id);
    const given: Job[] = [];
    const takeUntilNone = async (process: HandingOut) => {
      for (let job = await take(process); job; job = await take(process)) given.push(job);
    };
    await Promise.all([first, second, first, second, first, second].map(takeUntilNone));

    assert.equal(given.length, 24);
    assert.equal(new Set(given.map((job) => job.id)).size, 24);
    assert.ok(given.every(({ state, assignedAt }) => state === "assigned" && assignedAt));
    assert.equal(await take(second), undefined);

    const takeAnother = await takerOf(await busyQueue(3));
    const [one, two] = [await takeAnother(second), await takeAnother(first)];
    assert.ok(one && two && one.id < two.id);
  });

  it("are not assigned while the queue is paused or deleted, only after a resume", async () => {
    const id = await busyQueue(2);
    const take = await takerOf(id);
    await dispatch(id, "pause");
    for (const process of [first, second]) assert.equal(await take(process), undefined);
    await dispatch(id, "resume");
    assert.equal((await take(second))?.queueId, id);

    const { db } = api.world.services;
    const { queues } = db.tables;
    await db.transaction((tx) => tx.update(queues).set({ deletedAt: tx.now }).where(eq(queues.id, id)));
    assert.equal(await take(second), undefined);
  });

  it("are never assigned after the answer to a pause, even in a race", async () => {
    const id = await busyQueue(400);
    const take = await takerOf(id);
    for (let round = 0; round < 8; round++) {
      let isOver = false;
      let handedOut = 0;
      let isAnswered = false;
      const late: string[] = [];
      const ask = async (process: HandingOut) => {
        while (!isOver) {
          const isLate = isAnswered;
          const job = await take(process);
          if (job) handedOut++;
          if (job && isLate) late.push(job.id);
          await sleep(job ? 1 : 3);
        }
      };
      const asking = [first, second, first, second].map(ask);
      await eventually("a job", async () => handedOut > round);

      const { status, body } = await dispatch(id, "pause");
      isAnswered = true;
      const answered = new Date();
      const atAnswer = await countAssigned(id);
      await sleep(30);
      isOver = true;
      await Promise.all(asking);

      assert.deepEqual([status, body.dispatch_paused], [200, true]);
      assert.deepEqual(late, []);
      const rows = await assignedJobs(id);
      assert.equal(rows.length, atAnswer);
      assert.ok(rows.every(({ assignedAt }) => assignedAt && assignedAt <= answered));
      assert.ok(atAnswer < 400);
      assert.equal((await dispatch(id, "resume")).status, 200);
    }
  });
});
