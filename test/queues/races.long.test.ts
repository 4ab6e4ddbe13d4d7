import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { and, eq } from "drizzle-orm";
import { createBuilds } from "../../shared/builds/making/builds.ts";
import { buildRequest, openApi, ordinarySettings, unique } from "../helpers/api.ts";
import { describeWorld, withSettings } from "../helpers/databases.ts";
import { type Answer, untilNotBusy } from "../helpers/http.ts";
import { runSecondIngress } from "../helpers/processes.ts";

const callers = 200;

const settings = { DATABASE_POOL_SIZE: String(callers / 2) };

describeWorld("simultaneous changes in two processes", withSettings(openApi, settings), (api) => {
  let second: Awaited<ReturnType<typeof runSecondIngress>>;

  before(async () => {
    second = await runSecondIngress(api.world, ordinarySettings);
    await api.send("GET", "/clusters", { url: second.url });
  });
  after(() => second.close());

  /** Alternates between both processes. */
  const together = (times: number, method: string, path: string, body?: (index: number) => unknown) =>
    Promise.all(
      Array.from({ length: times }, (_, index) => {
        const url = index % 2 ? second.url : api.world.url;
        return untilNotBusy(() => api.send(method, path, { url, ...(body ? { body: body(index) } : {}) }));
      }),
    );
  const tally = (answers: Answer[]) => {
    const byAnswer = Map.groupBy(
      answers,
      ({ status, body }) => `${status} ${status < 300 ? "" : body.message}`,
    );
    return Object.fromEntries([...byAnswer].map(([answer, all]) => [answer, all.length]));
  };
  const acts = async (subjectId: string, action: string) => {
    const { db } = api.world.services;
    const { auditEvents } = db.tables;
    const of = and(eq(auditEvents.subjectId, subjectId), eq(auditEvents.action, action));
    return (await db.select().from(auditEvents).where(of)).length;
  };

  it("accept one of many pauses and one of many resumes, with one audit entry each", async () => {
    const { id } = await api.newQueue();
    const path = `${api.queues}/${id}`;

    const paused = await together(callers, "POST", `${path}/pause_dispatch`, (index) => ({
      note: `n${index}`,
    }));
    assert.deepEqual(tally(paused), { "200 ": 1, "422 Cluster queue is already paused": callers - 1 });
    const first = paused.findIndex(({ status }) => status === 200);
    const { body } = await api.send("GET", path);
    assert.deepEqual(body, paused[first]?.body);
    assert.equal(body.dispatch_paused_note, `n${first}`);

    const resumed = await together(callers, "POST", `${path}/resume_dispatch`);
    assert.deepEqual(tally(resumed), { "200 ": 1, "422 Cluster queue is not paused": callers - 1 });
    assert.deepEqual([await acts(id, "paused"), await acts(id, "resumed")], [1, 1]);
  });

  it("accept one of 50 creates with one key", async () => {
    const key = unique("racing");
    const answers = await together(50, "POST", api.queues, () => ({ key }));

    assert.deepEqual(tally(answers), { "201 ": 1, "422 Validation failed: Key has already been taken": 49 });
    const { id } = answers.find(({ status }) => status === 201)?.body ?? {};
    assert.equal(await acts(id, "created"), 1);
  });

  it("reach the limit of queues and do not exceed it", async () => {
    const cluster = await api.newCluster();
    const path = `/clusters/${cluster.id}/queues`;
    for (let made = 0; made < 45; made++) await api.newQueue({}, cluster.id);

    const answers = await together(20, "POST", path, () => ({ key: unique("last") }));

    assert.deepEqual(tally(answers), {
      "201 ": 5,
      "422 Validation failed: Cluster has reached its limit of 50 queues": 15,
    });
    assert.equal((await api.send("GET", `${path}?per_page=100`)).body.length, 50);
  });

  it("accept one of 20 deletes, and leave the other queue", async () => {
    const cluster = await api.newCluster();
    const path = `/clusters/${cluster.id}/queues`;
    const { id } = await api.newQueue({}, cluster.id);
    await api.newQueue({}, cluster.id);

    const answers = await together(20, "DELETE", `${path}/${id}`);

    assert.deepEqual(tally(answers), { "204 ": 1, "404 No cluster queue found": 19 });
    const { db } = api.world.services;
    const { queues } = db.tables;
    const rows = await db.select().from(queues).where(eq(queues.clusterId, cluster.id));
    assert.equal(rows.filter(({ deletedAt }) => deletedAt === null).length, 1);
  });

  /** Runs several rounds; each request starts first in turn. */
  async function onlyOne(
    rounds: number,
    set: () => Promise<[one: () => Promise<Answer>, other: () => Promise<Answer>]>,
  ) {
    for (let round = 0; round < rounds; round++) {
      const [one, other] = await set();
      const answers = await Promise.all(round % 2 ? [one(), other()] : [other(), one()]);
      const succeeded = answers.filter(({ status }) => status < 300);
      const others = answers.map(({ status, text }) => `${status} ${text}`).join("\n");
      assert.equal(succeeded.length, 1, others);
      assert.ok(
        answers.every(({ status }) => [200, 201, 204, 404, 422].includes(status)),
        others,
      );
    }
  }

  it("never delete a queue while a pipeline is created that uses it", async () => {
    await onlyOne(10, async () => {
      const { id, key } = await api.newQueue();
      const steps = [{ command: "a", agents: { queue: key } }];
      const body = { name: unique("P"), cluster_id: api.acme.cluster.id, steps };
      return [
        () => api.send("DELETE", `${api.queues}/${id}`),
        () => api.send("POST", "/pipelines", { body, url: second.url }),
      ];
    });
  });

  it("never delete a queue while a pipeline changes to use it", async () => {
    await onlyOne(10, async () => {
      const { id, key } = await api.newQueue();
      const { slug } = await api.newPipeline();
      const body = { steps: [{ command: "a", agents: { queue: key } }] };
      return [
        () => api.send("DELETE", `${api.queues}/${id}`),
        () => api.send("PATCH", `/pipelines/${slug}`, { body, url: second.url }),
      ];
    });
  });

  it("never delete a queue while it becomes the default", async () => {
    await onlyOne(10, async () => {
      const cluster = await api.newCluster();
      const { id } = await api.newQueue({}, cluster.id);
      const body = { default_queue_id: id };
      return [
        () => api.send("DELETE", `/clusters/${cluster.id}/queues/${id}`),
        () => api.send("PATCH", `/clusters/${cluster.id}`, { body, url: second.url }),
      ];
    });
  });

  it("never delete a queue while builds that run on it are created", async () => {
    const { services, clock } = api.world;
    const cluster = await api.newCluster();
    const [old, next] = [await api.newQueue({}, cluster.id), await api.newQueue({}, cluster.id)];
    const makeDefault = (id: string) =>
      api.send("PATCH", `/clusters/${cluster.id}`, { body: { default_queue_id: id }, url: second.url });
    await makeDefault(old.id);
    const pipeline = await api.newPipeline({ cluster_id: cluster.id });
    const [made, committing] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];

    const building = services.db.transaction(async (tx) => {
      await createBuilds(tx, services, [buildRequest(pipeline.id)], clock.now());
      made.resolve();
      await committing.promise;
    });
    await made.promise;
    const deleting = makeDefault(next.id).then(() =>
      api.send("DELETE", `/clusters/${cluster.id}/queues/${old.id}`, { url: second.url }),
    );
    await Promise.race([deleting, sleep(300)]);
    committing.resolve();
    await building;

    const { status, body } = await deleting;
    assert.deepEqual([status, body], [422, { message: "Cluster queue has 1 unfinished jobs" }]);
  });

  it("never delete a cluster while builds that run in it are created, even if their pipeline moves", async () => {
    const { services, clock } = api.world;
    const cluster = await api.newCluster();
    const { key } = await api.newQueue({}, cluster.id);
    await api.newQueue({ key });
    const steps = [{ command: "a", agents: { queue: key } }];
    const pipeline = await api.newPipeline({ cluster_id: cluster.id, steps });
    const [made, committing] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];

    const building = services.db.transaction(async (tx) => {
      await createBuilds(tx, services, [buildRequest(pipeline.id)], clock.now());
      made.resolve();
      await committing.promise;
    });
    await made.promise;
    const body = { cluster_id: api.acme.cluster.id };
    const moving = api.send("PATCH", `/pipelines/${pipeline.slug}`, { body });
    const deleting = moving.then(() => api.send("DELETE", `/clusters/${cluster.id}`, { url: second.url }));
    await Promise.race([deleting, sleep(300)]);
    committing.resolve();
    await building;

    assert.equal((await moving).status, 200);
    const answer = await deleting;
    assert.deepEqual([answer.status, answer.body], [422, { message: "Cluster has 1 unfinished jobs" }]);
  });

  it("leave no job in a deleted cluster after a simultaneous delete, build and move", async () => {
    const { key: other } = await api.newQueue();
    const on = (queue: string) => [{ command: "a", agents: { queue } }];
    for (let round = 0; round < 10; round++) {
      const cluster = await api.newCluster();
      const { key } = await api.newQueue({}, cluster.id);
      const { id, slug } = await api.newPipeline({ cluster_id: cluster.id, steps: on(key) });
      const body = { cluster_id: api.acme.cluster.id, steps: on(other) };

      await Promise.all([
        api.build(id),
        untilNotBusy(() => api.send("PATCH", `/pipelines/${slug}`, { body })),
        together(2, "DELETE", `/clusters/${cluster.id}`),
      ]);

      const [job] = (await api.send("GET", `/pipelines/${slug}/builds/1`)).body.jobs;
      assert.equal((await api.send("GET", `/clusters/${job.cluster_id}`)).status, 200);
    }
  });

  it("never delete a cluster while a pipeline is created in it", async () => {
    await onlyOne(10, async () => {
      const cluster = await api.newCluster();
      const { key } = await api.newQueue({}, cluster.id);
      const steps = [{ command: "a", agents: { queue: key } }];
      const body = { name: unique("P"), cluster_id: cluster.id, steps };
      return [
        () => api.send("DELETE", `/clusters/${cluster.id}`),
        () => api.send("POST", "/pipelines", { body, url: second.url }),
      ];
    });
  });

  it("never unset a default queue while a pipeline is created that needs it", async () => {
    await onlyOne(10, async () => {
      const cluster = await api.newCluster();
      const { id } = await api.newQueue({}, cluster.id);
      await api.send("PATCH", `/clusters/${cluster.id}`, { body: { default_queue_id: id } });
      const body = { name: unique("P"), cluster_id: cluster.id, steps: [{ command: "a" }] };
      const none = { default_queue_id: null };
      return [
        () => api.send("PATCH", `/clusters/${cluster.id}`, { body: none }),
        () => api.send("POST", "/pipelines", { body, url: second.url }),
      ];
    });
  });
});
