import assert from "node:assert/strict";
import { it } from "node:test";
import { asc, eq, inArray } from "drizzle-orm";
import { createBuilds } from "../../../../shared/builds/making/builds.ts";
import { pauseDispatch, resumeDispatch } from "../../../../shared/dispatch/pause.ts";
import { createPipeline } from "../../../../shared/pipelines/pipelines.ts";
import { createQueue } from "../../../../shared/queues/queues.ts";
import type { Queue } from "../../../../shared/queues/store.ts";
import { buildWebhook, fanOut } from "../../../helpers/builds.ts";
import { describeWorld } from "../../../helpers/databases.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

describeWorld("a job of a paused queue", startQueuePages, (pages) => {
  const pause = async (queue: Queue) => {
    await pauseDispatch(pages.services, pages.actor, queue, null);
    await fanOut(pages.services, queue.id);
  };
  const textOf = async (path: string) =>
    (await pages.asBob.get(path)).text
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
    const { id } = await buildWebhook(pages, (await acme.trigger({ buildMessage: "Half" }, "site")).path);
    const { builds } = services.db.tables;
    await services.db.transaction((tx) =>
      tx.update(builds).set({ state: "running" }).where(eq(builds.id, id)),
    );

    await pause(queue);

    assert.match(await textOf(paths.pipelines), /Site running paused #1 Half/);
    assert.match(await textOf(`${paths.pipelines}/site`), /running paused #1 Half main/);
    const build = await textOf(`${paths.pipelines}/site/builds/1`);
    assert.match(build, /Site #1 running paused/);
    assert.match(build, /make scheduled default .* make deploy paused deploy/);
    await resumeDispatch(services, actor, queue);
    assert.doesNotMatch(await textOf(`${paths.pipelines}/site/builds/1`), /paused/);
  });

  it("is on a page of the queue's waiting jobs, from the first to the last and back", async () => {
    const { services, actor, acme, paths, clock } = pages;
    const queue = await createQueue(services, actor, acme.cluster, { key: "busy" });
    const step = { command: "make", agents: { queue: "busy" } };
    const busy = await createPipeline(services, actor, {
      clusterId: acme.cluster.id,
      name: "Busy",
      steps: [step, step],
    });
    const request = { pipelineId: busy.id, deliveryId: null, source: "webhook" as const };
    const more = {
      message: "First line\n\nThe rest",
      commit: "HEAD",
      branch: "main",
      environmentSealed: null,
    };
    const requests = Array.from({ length: 25 }, () => ({ ...request, ...more }));
    await services.db.transaction((tx) => createBuilds(tx, services, requests, clock.now()));
    await pauseDispatch(services, actor, queue, null);
    const path = `${paths.cluster}/queues/${queue.id}`;
    const jobsOn = (text: string) =>
      [...text.matchAll(/\/busy\/builds\/\d+\/jobs\/([\w-]+)"/g)].map(([, id]) => id);
    const linkOn = (text: string, name: string) =>
      new RegExp(`href="([^"]+)">${name}<`).exec(text)?.[1]?.replaceAll("&amp;", "&");
    const walk = async (start: string, name: string) => {
      const found: { at: string; jobs: (string | undefined)[] }[] = [];
      for (let at: string | undefined = start; at; ) {
        const { text } = await pages.asBob.get(at);
        found.push({ at, jobs: jobsOn(text) });
        at = linkOn(text, name);
      }
      return found;
    };

    const forth = await walk(path, "Newer");
    const back = await walk(forth.at(-1)?.at ?? "", "Older");

    const { jobs } = services.db.tables;
    const made = await services.db
      .select()
      .from(jobs)
      .where(eq(jobs.queueId, queue.id))
      .orderBy(asc(jobs.id));
    const ids = made.map(({ id }) => id);
    const expected = [ids.slice(0, 20), ids.slice(20, 40), ids.slice(40)];
    assert.equal(ids.length, 50);
    assert.deepEqual(
      forth.map((each) => each.jobs),
      expected,
    );
    assert.deepEqual(
      back.map((each) => each.jobs),
      expected.toReversed(),
    );
    assert.match(await textOf(path), /Jobs waiting 50 .* Busy #1 First line scheduled/);

    await services.db.transaction((tx) =>
      tx
        .update(jobs)
        .set({ state: "canceled" })
        .where(inArray(jobs.id, ids.slice(20))),
    );
    for (const { at } of [...forth, ...back])
      assert.deepEqual(
        jobsOn((await pages.asBob.get(at)).text),
        ids.slice(0, 20),
        "the first page, if the jobs are gone",
      );
  });
});
