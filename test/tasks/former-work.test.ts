import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { eq, inArray } from "drizzle-orm";
import { newId } from "../../shared/ids.ts";
import { takeOverFormerWork } from "../../shared/triggers/former-work.ts";

import { describeOnBothDatabases } from "../helpers/databases.ts";
import { openTriggerApi, type TriggerApi } from "../helpers/trigger-api.ts";

describeOnBothDatabases("work that processes of the former release left", (database) => {
  let api: TriggerApi;
  before(async () => {
    api = await openTriggerApi(database);
  });
  after(() => api.close());

  it("becomes tasks of the organization, once", async () => {
    const { services } = api.world;
    const { db, clock } = services;
    const { builds, followUps, jobs, tasks } = db.tables;
    const { key, id: queueId } = await api.newQueue();
    const pipeline = await api.newPipeline({ steps: [{ command: "a", agents: { queue: key } }] });
    await api.build(pipeline.id, 1);
    const hook = await api.newTrigger();
    const ids = await api.deliver(hook);
    await api.work(ids);
    const { body } = await api.send("POST", `/pipelines/web/triggers/${hook.id}/rebuilds`);
    await api.send("POST", `${api.queues}/${queueId}/pause_dispatch`);
    const [build] = await db.select().from(builds).where(eq(builds.pipelineId, pipeline.id));
    const [job] = await db.select().from(jobs).where(eq(jobs.queueId, queueId));
    const left = [
      { kind: "trigger" as const, subjectId: job?.id ?? "" },
      { kind: "branch" as const, subjectId: build?.id ?? "" },
      { kind: "group" as const, subjectId: newId(clock.now()) }, // gone
    ];
    await db.transaction(async (tx) => {
      await tx.delete(tasks);
      const rows = left.map((each) => ({ ...each, id: newId(tx.now), createdAt: tx.now }));
      await tx.insertMany(followUps, rows);
    });

    await takeOverFormerWork(services);
    await takeOverFormerWork(services);

    const made = await db.select().from(tasks);
    const subjects = new Set(made.map(({ kind, subjectId }) => `${kind} ${subjectId}`));
    assert.deepEqual(
      subjects,
      new Set([`trigger ${job?.id}`, `branch ${build?.id}`, `bulk_rebuild ${body.id}`, `pause ${queueId}`]),
    );
    assert.deepEqual([...new Set(made.map(({ organizationId }) => organizationId))], [api.acme.id]);
    assert.deepEqual(await db.select().from(followUps), []);
  });

  it("is found, if it is deliveries", async () => {
    const { services } = api.world;
    const { db } = services;
    const { deliveries, triggers } = db.tables;
    const [plain, filtered] = [await api.newTrigger(), await api.newTrigger()];
    const ids = [await api.deliver(plain), await api.deliver(filtered)];
    await db.transaction(async (tx) => {
      const former = { organizationId: null, isFiltered: false };
      await tx.update(triggers).set({ filter: "true" }).where(eq(triggers.id, filtered.id));
      await tx.update(deliveries).set(former).where(inArray(deliveries.id, ids));
    });
    await api.work();
    const statuses = async () => {
      const rows = await db.select().from(deliveries).where(inArray(deliveries.id, ids));
      return rows.map(({ status }) => status);
    };
    assert.deepEqual(await statuses(), [null, null]);

    await takeOverFormerWork(services);
    await api.work();

    assert.deepEqual(await statuses(), ["build_created", "build_created"]);
  });
});
