import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { eq } from "drizzle-orm";
import { createBuilds } from "../../../../shared/builds/create.ts";
import { fanOutDispatchPause } from "../../../../shared/dispatch/fan-out.ts";
import { pauseDispatch, resumeDispatch } from "../../../../shared/dispatch/pause.ts";
import { createPipeline } from "../../../../shared/pipelines/pipelines.ts";
import { createQueue } from "../../../../shared/queues/queues.ts";
import type { Queue } from "../../../../shared/queues/store.ts";
import { buildWebhook } from "../../../helpers/builds.ts";
import { describeWithDatabase } from "../../../helpers/databases.ts";
import { type QueuePages, startQueuePages } from "../../../helpers/pages.ts";
import type { Visitor } from "../../../helpers/visitor.ts";

describeWithDatabase("a job of a paused queue", (database) => {
  let pages: QueuePages;
  let bob: Visitor;

  before(async () => {
    pages = await startQueuePages(database);
    bob = await pages.visitor(pages.bob);
  });
  after(() => pages.close());

  const pause = async (queue: Queue) => {
    await pauseDispatch(pages.services, pages.actor, queue, null);
    await fanOutDispatchPause(pages.services, queue.id);
  };
  const textOf = async (path: string) =>
    (await bob.get(path)).text
      .replace(/^.*<main/s, "")
      .replace(/<[^>]*>/g, " ")
      .replace(/\s+/g, " ");

  it("is shown as paused beside its state on lists, the build and its jobs", async () => {
    const { services, actor, acme, paths } = pages;
    const queue = await createQueue(services, actor, acme.cluster, { key: "deploy" });
    await createPipeline(services, actor, {
      clusterId: acme.cluster.id,
      name: "Site",
      steps: [{ command: "make" }, { command: "make deploy", agents: { queue: "deploy" } }],
    });
    const { id } = await buildWebhook(pages, (await acme.trigger({ message: "Half" }, "site")).path);
    const { builds } = services.db.tables;
    await services.db.transaction((tx) =>
      tx.update(builds).set({ state: "running" }).where(eq(builds.id, id)),
    );

    await pause(queue);

    assert.match(await textOf(paths.pipelines), /Site running paused #1 Half/);
    assert.match(await textOf(`${paths.pipelines}/site`), /running paused #1 Half main/);
    const build = await textOf(`${paths.pipelines}/site/builds/1`);
    assert.match(build, /Build #1 running paused/);
    assert.match(build, /make scheduled default .* make deploy scheduled paused deploy/);
    await resumeDispatch(services, actor, queue);
    assert.doesNotMatch(await textOf(`${paths.pipelines}/site/builds/1`), /paused/);
  });

  it("is listed on the queue's page up to 20 builds, and counted beyond", async () => {
    const { services, actor, acme, paths } = pages;
    const queue = await createQueue(services, actor, acme.cluster, { key: "busy" });
    const step = { command: "make", agents: { queue: "busy" } };
    const busy = await createPipeline(services, actor, {
      clusterId: acme.cluster.id,
      name: "Busy",
      steps: [step, step],
    });
    const request = { pipelineId: busy.id, deliveryId: null, source: "webhook" as const };
    const more = { message: "m", commit: "HEAD", branch: "main", environmentSealed: null };
    const make = (amount: number) => {
      const requests = Array.from({ length: amount }, () => ({ ...request, ...more }));
      return services.db.transaction((tx) => createBuilds(tx, requests, pages.clock.now()));
    };
    const path = `${paths.cluster}/queues/${queue.id}`;
    await make(20);
    await pauseDispatch(services, actor, queue, null);
    assert.match(await textOf(path), /Builds that wait for it Those of the waiting jobs above/);
    await fanOutDispatchPause(services, queue.id);
    assert.match(await textOf(path), /Busy #1 m .* Busy #20 m History/);

    await make(15);
    await fanOutDispatchPause(services, queue.id);
    assert.match(await textOf(path), /Busy #20 m and 15 more/);

    await make(465);
    await fanOutDispatchPause(services, queue.id);
    assert.match(await textOf(path), /Busy #20 m and 480 or more/);
  });
});
