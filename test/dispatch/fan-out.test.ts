import assert from "node:assert/strict";
import { it } from "node:test";
import { eq, inArray } from "drizzle-orm";
import { openHandOut } from "../../shared/agents/hand-out/hand-out.ts";
import { fanOutPause } from "../../shared/dispatch/fan-out.ts";
import { pauseDispatch } from "../../shared/dispatch/pause.ts";
import type { Topic } from "../../shared/redis/events.ts";
import { openTasks, type TaskHandler } from "../../shared/tasks/runner.ts";
import { openTaker } from "../helpers/agent.ts";
import { build, openApi } from "../helpers/api.ts";
import { doTasks, fanOut as fanOutOf } from "../helpers/builds.ts";
import { describeOnBothDatabases, describeWorld } from "../helpers/databases.ts";
import { eventually } from "../helpers/http.ts";
import { setUpOrganization } from "../helpers/organization.ts";

describeWorld("a job that waits on a paused queue", openApi, (api) => {
  const dispatch = (id: string, verb: "pause" | "resume") =>
    api.send("POST", `${api.queues}/${id}/${verb}_dispatch`);
  const fanOut = (id: string) => fanOutOf(api.world.services, id);
  const takeFrom = async (queueId: string) => {
    const { services } = api.world;
    const take = await openTaker(api.world, api.acme.cluster, queueId);
    return take({ services, handOut: openHandOut(services) });
  };

  /** Creates builds with one step on each new queue. */
  async function waiting(queues: number, builds: number) {
    const made = [];
    for (let at = 0; at < queues; at++) made.push((await api.newQueue()) as { id: string; key: string });
    const steps = made.map(({ key }) => ({ command: "a", agents: { queue: key } }));
    const pipeline = await api.newPipeline({ steps });
    await api.build(pipeline.id, builds);
    return { pipelineId: pipeline.id, slug: pipeline.slug, ids: made.map(({ id }) => id) };
  }
  type Waiting = Awaited<ReturnType<typeof waiting>>;

  async function rowsOf({ pipelineId, ids }: Waiting) {
    const { db } = api.world.services;
    const { builds, jobs, queues } = db.tables;
    return {
      queues: await db.select().from(queues).where(inArray(queues.id, ids)),
      builds: await db.select().from(builds).where(eq(builds.pipelineId, pipelineId)),
      jobs: await db.select().from(jobs).where(inArray(jobs.queueId, ids)),
    };
  }

  /** Compares waiting jobs and builds with their queues. */
  async function differences(of: Waiting): Promise<string[]> {
    const { queues, builds, jobs } = await rowsOf(of);
    const pausedAt = new Map(queues.map((queue) => [queue.id, queue.dispatchPausedAt?.getTime()]));
    const unlike = jobs.filter(({ state, queueId, dispatchPausedAt }) =>
      state === "scheduled"
        ? dispatchPausedAt?.getTime() !== pausedAt.get(queueId ?? "")
        : dispatchPausedAt !== null,
    );
    const wrong = builds.filter(({ id, pausedQueueId }) => {
      const holding = jobs
        .filter((job) => job.buildId === id && job.state === "scheduled" && pausedAt.get(job.queueId ?? ""))
        .map(({ queueId }) => queueId as string);
      return pausedQueueId === null ? holding.length > 0 : !holding.includes(pausedQueueId);
    });
    return [
      ...unlike.map(
        ({ state, dispatchPausedAt }) => `a ${state} job carries ${dispatchPausedAt?.toISOString()}`,
      ),
      ...wrong.map(
        ({ number, state, pausedQueueId }) => `${state} build ${number} is held by ${pausedQueueId}`,
      ),
    ];
  }

  const sweep = () => doTasks(api.world.services, { pause: fanOutPause });

  it("waits for few transactions of another organization, whose queues have many jobs", async () => {
    const { services } = api.world;
    const many = await waiting(4, 150);
    for (const id of many.ids) await dispatch(id, "pause");
    const other = await setUpOrganization(api.world, "other");
    await build(api.world, other.pipeline.id, 1);
    await pauseDispatch(services, other.operator, other.queue, null);
    let transactions = 0;
    const before = Promise.withResolvers<number>();
    const pause: TaskHandler = (given, queueId, place) => {
      transactions++;
      return fanOutPause(given, queueId, place);
    };
    const watched = {
      ...services,
      events: {
        ...services.events,
        publish: (topics: Topic[]) => {
          if (topics.includes(`queue:${other.queue.id}`)) before.resolve(transactions);
        },
      },
    };
    const tasks = openTasks(watched, { pause });
    tasks.wake();
    // Until the other organization is seen, the first is alone and has all places. Without turns all of them come before.
    assert.ok((await before.promise) <= 24, `${await before.promise} transactions of 32 came before`);
    await tasks.idle();
    await tasks.close();
    assert.deepEqual(await differences(many), []);
  });

  it("ends in progress when its process closes", async () => {
    const of = await waiting(1, 50);
    const [id = ""] = of.ids;
    await dispatch(id, "pause");
    const begun = Promise.withResolvers<void>();
    const pause: TaskHandler = async (services, queueId, place) => {
      begun.resolve();
      return fanOutPause(services, queueId, place);
    };
    const tasks = openTasks(api.world.services, { pause });
    tasks.wake();
    await begun.promise;
    await tasks.close();
    const left = await differences(of);
    assert.ok(left.length > 0, "the rest is left to another process");
    await sweep();
    assert.deepEqual(await differences(of), []);
  });

  it("carries the pause after its fan-out, and loses it after that of the resume", async () => {
    const of = await waiting(1, 3);
    const [id = ""] = of.ids;
    await dispatch(id, "pause");
    await fanOut(id);
    const paused = await rowsOf(of);
    assert.deepEqual(await differences(of), []);
    assert.deepEqual(new Set(paused.builds.map(({ pausedQueueId }) => pausedQueueId)), new Set([id]));

    await dispatch(id, "resume");
    await fanOut(id);
    assert.deepEqual(await differences(of), []);
    const resumed = await rowsOf(of);
    assert.deepEqual(new Set(resumed.builds.map(({ pausedQueueId }) => pausedQueueId)), new Set([null]));
  });

  it("carries the newest pause, even if fan-outs repeat or run late", async () => {
    const of = await waiting(1, 4);
    const [id = ""] = of.ids;
    for (const verb of ["pause", "resume", "pause", "resume", "pause"] as const) await dispatch(id, verb);
    await Promise.all([fanOut(id), fanOut(id), fanOut(id)]);
    assert.deepEqual(await differences(of), []);
    await dispatch(id, "resume");
    await dispatch(id, "pause");
    await fanOut(id);
    await fanOut(id);
    assert.deepEqual(await differences(of), []);
  });

  it("carries no pause once assigned, and its build is not paused", async () => {
    const of = await waiting(1, 2);
    const [id = ""] = of.ids;
    await dispatch(id, "pause");
    await fanOut(id);
    await dispatch(id, "resume");
    const job = await takeFrom(id); // before the fan-out of the resume

    await fanOut(id);
    await sweep();

    assert.equal(job?.dispatchPausedAt, null);
    assert.deepEqual(await differences(of), []);
  });

  it("stays paused by the second queue when the first of two is resumed", async () => {
    const of = await waiting(2, 2);
    const [one = "", two = ""] = of.ids;
    const holders = async () => new Set((await rowsOf(of)).builds.map((build) => build.pausedQueueId));
    for (const id of of.ids) {
      await dispatch(id, "pause");
      await fanOut(id);
    }
    assert.deepEqual(await holders(), new Set([one]));
    await dispatch(one, "resume");
    await fanOut(one);
    assert.deepEqual(await holders(), new Set([two]));
    await dispatch(two, "resume");
    await fanOut(two);
    assert.deepEqual(await holders(), new Set([null]));
  });

  it("is paused by one queue while the other is resumed, in either order of the fan-outs", async () => {
    const of = await waiting(2, 40);
    let [one = "", two = ""] = of.ids;
    await dispatch(one, "pause");
    await fanOut(one);
    for (let round = 0; round < 12; round++) {
      await dispatch(one, "resume");
      await dispatch(two, "pause");
      await Promise.all([fanOut(one), fanOut(two)]);
      await sweep();
      assert.deepEqual(await differences(of), [], `round ${round}`);
      [one, two] = [two, one];
    }
  });

  it("is no longer paused once the tasks of several resumes are done", async () => {
    const of = await waiting(4, 3);
    for (const id of of.ids) {
      await dispatch(id, "pause");
      await fanOut(id);
    }
    for (const id of of.ids) await dispatch(id, "resume");
    assert.notDeepEqual(await differences(of), []);

    await sweep();

    assert.deepEqual(await differences(of), []);
  });

  it("is no longer paused once it is canceled", async () => {
    const of = await waiting(2, 2);
    for (const id of of.ids) {
      await dispatch(id, "pause");
      await fanOut(id);
    }
    await api.send("PUT", `/pipelines/${of.slug}/builds/1/cancel`);
    assert.deepEqual(await differences(of), []);
    await sweep();
    assert.deepEqual(await differences(of), []);
  });

  it("matches its queues after simultaneous changes", async () => {
    const of = await waiting(2, 12);
    const [one = "", two = ""] = of.ids;
    const verbs = ["pause", "resume"] as const;
    for (let round = 0; round < 12; round++) {
      const [first, second] = [verbs[round % 2] ?? "pause", verbs[(round >> 1) % 2] ?? "pause"];
      await Promise.all([
        dispatch(one, first).then(() => (round % 3 ? fanOut(one) : undefined)),
        dispatch(two, second).then(() => (round % 4 ? fanOut(two) : undefined)),
        round % 2 ? fanOut(two) : fanOut(one),
        api.build(of.pipelineId, 2),
        takeFrom(round % 2 ? one : two),
      ]);
      await sweep();
      assert.deepEqual(await differences(of), [], `round ${round}`);
    }
  });
});

describeOnBothDatabases("the workers after a pause", (database) => {
  it("update waiting jobs and builds, also if nobody wakes them, and publish an event", async () => {
    const api = await openApi(database);
    const { services } = api.world;
    const { key, id } = await api.newQueue();
    const pipeline = await api.newPipeline({ steps: [{ command: "a", agents: { queue: key } }] });
    await api.build(pipeline.id, 3);
    const { db, jobs } = services;
    const carried = async () => {
      const rows = await db.select().from(db.tables.builds).orderBy(db.tables.builds.id);
      return rows.map(({ pausedQueueId }) => pausedQueueId);
    };
    const [build] = await db.select().from(db.tables.builds);
    let heard = 0;
    const unsubscribe = services.events.subscribe([`build:${build?.id}`], () => heard++);
    await api.world.startWorkers();

    await api.send("POST", `${api.queues}/${id}/pause_dispatch`);
    await eventually("the pause", async () => (await carried()).every((held) => held === id));
    await eventually("the news", async () => heard > 0);

    const send = jobs.send;
    jobs.send = async () => false;
    await api.send("POST", `${api.queues}/${id}/resume_dispatch`);
    await eventually("the resume", async () => (await carried()).every((held) => held === null));
    jobs.send = send;
    unsubscribe();
    await api.close();
  });
});
