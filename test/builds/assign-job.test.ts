import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { and, count, eq, isNotNull } from "drizzle-orm";
import type { Job } from "../../shared/builds/store.ts";
import { assignNextJob } from "../../shared/dispatch/fan-out.ts";
import type { Services } from "../../shared/runtime/services.ts";
import { type Api, openApi } from "../helpers/api.ts";
import { describeOnBothDatabases } from "../helpers/databases.ts";
import { eventually } from "../helpers/http.ts";

describeOnBothDatabases("jobs of a queue", (database) => {
  let api: Api;
  let second: Services;

  before(async () => {
    api = await openApi(database);
    second = (await api.world.another()).services;
  });
  after(() => api.close());

  const busyQueue = async (jobs: number) => {
    const { id, key } = await api.newQueue();
    const pipeline = await api.newPipeline({ steps: [{ command: "a", agents: { queue: key } }] });
    await api.build(pipeline.id, jobs);
    return id as string;
  };
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
    const given: Job[] = [];
    const askUntilNone = async (services: Services) => {
      for (let job = await assignNextJob(services, id); job; job = await assignNextJob(services, id))
        given.push(job);
    };
    const { services } = api.world;
    await Promise.all([services, second, services, second, services, second].map(askUntilNone));

    assert.equal(given.length, 24);
    assert.equal(new Set(given.map((job) => job.id)).size, 24);
    assert.ok(given.every(({ state, assignedAt }) => state === "assigned" && assignedAt));
    assert.equal(await assignNextJob(second, id), undefined);

    const another = await busyQueue(3);
    const [one, two] = [await assignNextJob(second, another), await assignNextJob(second, another)];
    assert.ok(one && two && one.id < two.id);
  });

  it("are not assigned while the queue is paused or deleted, only after a resume", async () => {
    const id = await busyQueue(2);
    await dispatch(id, "pause");
    for (const services of [api.world.services, second])
      assert.equal(await assignNextJob(services, id), undefined);
    await dispatch(id, "resume");
    assert.equal((await assignNextJob(second, id))?.queueId, id);
    assert.equal(await assignNextJob(second, api.acme.cluster.id), undefined);
  });

  it("are never assigned after the answer to a pause, even in a race", async () => {
    const id = await busyQueue(400);
    for (let round = 0; round < 8; round++) {
      let isOver = false;
      let handedOut = 0;
      let isAnswered = false;
      const late: string[] = [];
      const ask = async (services: Services) => {
        while (!isOver) {
          const isLate = isAnswered;
          const job = await assignNextJob(services, id);
          if (job) handedOut++;
          if (job && isLate) late.push(job.id);
          await sleep(job ? 1 : 3);
        }
      };
      const asking = [api.world.services, second, api.world.services, second].map(ask);
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
