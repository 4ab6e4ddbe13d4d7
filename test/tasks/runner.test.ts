import assert from "node:assert/strict";
import { after, before, beforeEach, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { eq } from "drizzle-orm";
import { newId } from "../../shared/ids.ts";
import { createLog } from "../../shared/services/log.ts";
import { openServices, type Services } from "../../shared/services/services.ts";
import { openTasks, type TaskHandler, type TaskHandlers } from "../../shared/tasks/runner.ts";
import { endTasksOf, later } from "../../shared/tasks/store.ts";
import type { TaskKind } from "../../shared/vocabulary.ts";
import { describeWorld } from "../helpers/databases.ts";
import { eventually } from "../helpers/http.ts";
import { startWorld } from "../helpers/world.ts";

describeWorld("what a transaction makes due", startWorld, (world) => {
  /** Of a process that serves nothing: those that serve do tasks at once. */
  let services: Services;
  before(async () => {
    const log = createLog({ level: "debug", process: "test" }, { write: () => {} });
    services = openServices({ config: world.config, log, clock: world.clock });
  });
  beforeEach(() => services.db.transaction(async (tx) => void (await tx.delete(tx.tables.tasks))));
  after(() => services.close());

  const newSubject = () => newId(services.clock.now());
  const newSubjects = (length: number) => Array.from({ length }, newSubject);
  const acme = newId(new Date());
  const makeDue = (subjects: string[], kind: TaskKind = "group", organizationId = acme) =>
    services.db.transaction((tx) => later(tx, kind, organizationId, subjects));
  const listRows = () => services.db.select().from(services.db.tables.tasks);
  /** A handler that notes for which subjects it had something to do. */
  const noting =
    (done: string[], kind: TaskKind = "group"): TaskHandler =>
    async ({ db }, subjectId) => {
      if (await db.transaction((tx) => endTasksOf(tx, kind, subjectId))) done.push(subjectId);
    };
  /** @param aheadMs of its clock */
  const openWorker = (handlers: TaskHandlers, aheadMs = 0) => {
    const now = () => new Date(services.clock.now().getTime() + aheadMs);
    return openTasks({ ...services, clock: { ...services.clock, now } }, handlers);
  };
  const listClaimed = async (afterMs = 0) => {
    await sleep(afterMs);
    return (await listRows()).filter(({ dueAt }) => dueAt > services.clock.now()).length;
  };
  /** Does what is due for a worker whose clock is ahead. */
  async function work(handlers: TaskHandlers, aheadMs = 0) {
    const worker = openWorker(handlers, aheadMs);
    worker.wake();
    await worker.idle();
    await worker.close();
  }

  it("is done after the commit by its process, and its row is gone", async () => {
    const done: string[] = [];
    const tasks = openTasks(services, { group: noting(done) });
    const subjects = [newSubject()];
    await makeDue(subjects);
    await tasks.idle();
    await tasks.close();

    assert.deepEqual(done, subjects);
    assert.deepEqual(await listRows(), []);
  });

  it("is not done if the transaction is rolled back", async () => {
    const done: string[] = [];
    const tasks = openTasks(services, { group: noting(done) });
    const failed = services.db.transaction(async (tx) => {
      await later(tx, "group", acme, [newSubject()]);
      throw new Error("on purpose");
    });
    await assert.rejects(failed, /on purpose/);
    await tasks.idle();
    await tasks.close();

    assert.deepEqual(done, []);
    assert.deepEqual(await listRows(), []);
  });

  it("is left for a few seconds, and then done by a worker, if its process was killed", async () => {
    const subjects = newSubjects(250);
    await makeDue(subjects);
    const done: string[] = [];
    await work({ group: noting(done) });
    assert.deepEqual(done, []);

    await work({ group: noting(done) }, 4000);

    assert.deepEqual(done.sort(), subjects.sort());
    assert.deepEqual(await listRows(), []);
  });

  it("is left to workers, of which one is woken, if it takes long", async () => {
    const own: string[] = [];
    const done: string[] = [];
    const woken: string[] = [];
    const send: Services["jobs"]["send"] = async ({ name }) => woken.push(name) > 0;
    const waking = { ...services, jobs: { ...services.jobs, send } };
    const process = openTasks(waking, { pause: noting(own, "pause") });
    const subjects = [newSubject()];
    await makeDue(subjects, "pause");
    await process.idle();
    await process.close();
    await work({ pause: noting(done, "pause") });

    assert.deepEqual([own, done, woken], [[], subjects, ["do-tasks"]]);
  });

  it("is done by one of several workers, and by another one once that was killed", async () => {
    const [subject = ""] = newSubjects(1);
    await makeDue([subject], "pause");
    const started: string[] = [];
    const stuck = Promise.withResolvers<void>();
    const first = openWorker({ pause: () => stuck.promise.then(() => void started.push("first")) });
    first.wake();
    const isTaken = async () => ((await listRows())[0]?.dueAt ?? new Date(0)) > services.clock.now();
    await eventually("the task to be taken", isTaken);

    await work({ pause: async () => void started.push("too early") }, 20_000);
    assert.deepEqual(started, []);
    await work({ pause: noting(started, "pause") }, 31_000);
    stuck.resolve();
    await first.close();

    assert.deepEqual(started, [subject, "first"]);
  });

  it("is done once at a time, and again if it became due meanwhile", async () => {
    const [subject = ""] = newSubjects(1);
    let running = 0;
    const runs: number[] = [];
    const release = Promise.withResolvers<void>();
    const group: TaskHandler = async ({ db }) => {
      runs.push(++running);
      await release.promise;
      await db.transaction((tx) => endTasksOf(tx, "group", subject));
      running--;
    };
    const tasks = openTasks(services, { group });
    for (let times = 0; times < 3; times++) await makeDue([subject]);
    release.resolve();
    await tasks.idle();
    await tasks.close();

    assert.deepEqual(runs, [1, 1]);
    assert.deepEqual(await listRows(), []);
  });

  it("goes on slice by slice, in turns of the organizations", async () => {
    const [long = "", other = ""] = newSubjects(2);
    const slices: string[] = [];
    const group: TaskHandler = async (_, subjectId, place: number = 0) => {
      slices.push(`${subjectId === long ? "long" : "other"} ${place}`);
      if (subjectId === long && place === 0) await makeDue([other], "group", newId(new Date()));
      await noting([])(services, subjectId);
      return subjectId === long && place < 5 ? place + 1 : undefined;
    };
    const tasks = openTasks(services, { group });
    await makeDue([long]);
    await tasks.idle();
    await tasks.close();

    assert.deepEqual(slices.filter((slice) => slice.startsWith("long")).length, 6);
    assert.ok(slices.indexOf("other 0") < 3, slices.join(", "));
  });

  it("is tried again later, and later still, when it fails", async () => {
    const [bad = "", good = ""] = newSubjects(2);
    const done: string[] = [];
    const group: TaskHandler = async (given, subjectId) => {
      if (subjectId === bad) throw new Error("on purpose");
      await noting(done)(given, subjectId);
    };
    const tasks = openTasks(services, { group });
    await makeDue([bad, good]);
    await tasks.idle();
    await tasks.close();
    const [first] = await listRows();
    await work({ group }, 10_000);
    const [second] = await listRows();

    assert.deepEqual(done, [good]);
    assert.deepEqual([first?.subjectId, first?.failures, second?.failures], [bad, 1, 2]);
    const delayOf = (row: typeof first, at: number) => (row?.dueAt.getTime() ?? 0) - at;
    assert.ok(delayOf(first, services.clock.now().getTime()) <= 2000);
    assert.ok(delayOf(second, services.clock.now().getTime() + 10_000) > 2000);
  });

  it("is done although more before it fail than a worker takes at once", async () => {
    const done: string[] = [];
    const failed: string[] = [];
    const bad = newSubjects(510);
    const good = newSubject();
    const group: TaskHandler = async (given, subjectId) => {
      if (subjectId === good) return noting(done)(given, subjectId);
      failed.push(subjectId);
      throw new Error("on purpose");
    };
    await makeDue([...bad, good]);
    // It stands still, so that no task is tried again.
    const now = new Date(services.clock.now().getTime() + 4000);
    const worker = openTasks({ ...services, clock: { ...services.clock, now: () => now } }, { group });
    await eventually("the last one", async () => {
      worker.wake();
      await worker.idle();
      return done.length > 0;
    });
    await worker.close();

    assert.deepEqual(done, [good]);
    assert.deepEqual(failed.sort(), bad.sort());
  });

  it("is done soon although a clock was ahead", async () => {
    const subjects = [newSubject()];
    await makeDue(subjects);
    const { tasks } = services.db.tables;
    const dueAt = new Date(services.clock.now().getTime() + 86_400_000);
    await services.db.transaction(async (tx) => {
      await tx.update(tasks).set({ dueAt }).where(eq(tasks.organizationId, acme));
    });
    const done: string[] = [];
    await work({ group: noting(done) });

    assert.deepEqual(done, subjects);
  });

  it("keeps no organization waiting for another one that made much due", async () => {
    const [many, one] = [newSubjects(300), newSubject()];
    const done: string[] = [];
    const tasks = openTasks(services, { group: noting(done) });
    await makeDue(many);
    await makeDue([one], "group", newId(new Date()));
    await tasks.idle();
    await tasks.close();

    assert.equal(done.length, 301);
    assert.ok(done.indexOf(one) < 20, `as the ${done.indexOf(one)}th`);
  });

  it("keeps no organization waiting while hundreds of another one take long", async () => {
    const one = newSubject();
    const done: string[] = [];
    const stuck = Promise.withResolvers<void>();
    const pause: TaskHandler = async (given, subjectId) => {
      if (subjectId !== one) await stuck.promise;
      await noting(done, "pause")(given, subjectId);
    };
    await makeDue(newSubjects(600), "pause");
    const worker = openWorker({ pause });
    worker.wake();
    await eventually("no more claims", async () => {
      const claimed = await listClaimed();
      return claimed > 0 && claimed === (await listClaimed(200));
    });

    await makeDue([one], "pause", newId(new Date()));
    worker.wake();
    await eventually("the other's", async () => done.length > 0);
    assert.deepEqual(done, [one]);

    stuck.resolve();
    await worker.idle();
    await worker.close();
    assert.equal(done.length, 601);
  });

  it("keeps no organization waiting for what another one left over", async () => {
    const [many, one] = [newSubjects(300), newSubject()];
    await makeDue(many);
    await makeDue([one], "group", newId(new Date()));
    const done: string[] = [];
    await work({ group: noting(done) }, 4000);

    assert.equal(done.length, 301);
    assert.ok(done.indexOf(one) < 150, `as the ${done.indexOf(one)}th`);
  });
});
