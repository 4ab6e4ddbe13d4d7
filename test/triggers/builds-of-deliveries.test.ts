import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { eq } from "drizzle-orm";
import { dayMs } from "../../shared/durations.ts";
import { createPipeline } from "../../shared/pipelines/pipelines.ts";
import { createQueue } from "../../shared/queues/queues.ts";
import { deleteTrigger } from "../../shared/triggers/triggers.ts";
import { openWorkerJobs } from "../../workers/jobs.ts";
import { allBuilds, buildOfDelivery, countBuilds, decideDue, findDelivery } from "../helpers/builds.ts";
import { describeWorld, sqlite } from "../helpers/databases.ts";
import { eventually, get, post, untilNotBusy } from "../helpers/http.ts";
import { openAcme, setUpOrganization } from "../helpers/organization.ts";
import { onlyInFullRun } from "../helpers/run-mode.ts";
import { startWorld } from "../helpers/world.ts";

describeWorld("a delivery's build", openAcme, (world) => {
  before(() => world.startWorkers());

  const deliver = async (path: string, body = "{}", headers?: Record<string, string>) => {
    const answer = await untilNotBusy(() => post(world.url + path, body, headers));
    assert.equal(answer.status, 201, answer.text);
    return answer.body.id as string;
  };
  const built = (deliveryId: string) => eventually("the build", () => buildOfDelivery(world, deliveryId));

  it("has the trigger's branch, commit, message and variables", async () => {
    const { path } = await world.acme.trigger({
      buildBranch: "release",
      buildCommit: "abc123",
      buildMessage: "From outside",
      environment: { COLOUR: "blue", EMPTY: "" },
    });

    const build = await built(await deliver(path));

    const { body } = await get(
      `${world.url}/v2/organizations/acme/pipelines/web/builds/${build.number}`,
      await world.acme.token("read_builds"),
    );
    assert.equal(body.id, build.id);
    assert.equal(body.state, "scheduled");
    assert.equal(body.source, "webhook");
    assert.deepEqual([body.branch, body.commit, body.message], ["release", "abc123", "From outside"]);
    assert.deepEqual(body.env, {
      COLOUR: "blue",
      EMPTY: "",
      SIGNALBOX: "true",
      SIGNALBOX_ORGANIZATION_SLUG: "acme",
      SIGNALBOX_PIPELINE_SLUG: "web",
      SIGNALBOX_BUILD_ID: build.id,
      SIGNALBOX_BUILD_NUMBER: String(build.number),
      SIGNALBOX_BRANCH: "release",
      SIGNALBOX_COMMIT: "abc123",
      SIGNALBOX_MESSAGE: "From outside",
      SIGNALBOX_SOURCE: "webhook",
    });
    assert.equal(body.jobs.length, 1);
    assert.deepEqual(
      [body.jobs[0].state, body.jobs[0].command, body.jobs[0].cluster_queue_id],
      ["scheduled", "make test", world.acme.queue.id],
    );
  });

  it("has the documented defaults when the trigger sets none", async () => {
    const build = await built(await deliver((await world.acme.trigger()).path));

    assert.deepEqual([build.branch, build.commit, build.message], ["main", "HEAD", "Triggered build"]);
  });

  it("is not changed by message, branch, commit or env in the payload, nor by headers", async () => {
    const { path } = await world.acme.trigger();
    const payload = {
      message: "evil",
      branch: "evil",
      commit: "evil",
      env: { EVIL: "1" },
      environment: { EVIL: "1" },
    };

    const build = await built(
      await deliver(path, JSON.stringify(payload), {
        "X-Evil": "evil-header",
        "X-GitHub-Event": "evil-event",
      }),
    );

    const { text, body } = await get(
      `${world.url}/v2/organizations/acme/pipelines/web/builds/${build.number}`,
      await world.acme.token("read_builds"),
    );
    assert.doesNotMatch(text, /evil/i);
    assert.deepEqual(body.meta_data, {});
  });

  it("does not let a trigger replace predefined variables", async () => {
    const { path } = await world.acme.trigger({
      environment: { SIGNALBOX_BUILD_NUMBER: "99999", SIGNALBOX_FAKE: "1" },
    });
    const build = await built(await deliver(path));

    const { body } = await get(
      `${world.url}/v2/organizations/acme/pipelines/web/builds/${build.number}`,
      await world.acme.token("read_builds"),
    );
    assert.equal(body.env.SIGNALBOX_BUILD_NUMBER, String(build.number));
    assert.equal(body.env.SIGNALBOX_FAKE, undefined);
  });

  it("runs each step on the queue that the step names", async () => {
    const gpu = await createQueue(world.services, world.acme.operator, world.acme.cluster, { key: "gpu" });
    const pipeline = await createPipeline(world.services, world.acme.operator, {
      clusterId: world.acme.cluster.id,
      slug: "train",
      name: "Train",
      steps: [{ command: "make train", agents: { queue: "gpu" } }],
    });
    const trigger = await world.acme.trigger({}, "train");

    const build = await built(await deliver(trigger.path));

    const { db } = world.services;
    const jobs = await db.select().from(db.tables.jobs).where(eq(db.tables.jobs.buildId, build.id));
    assert.equal(build.pipelineId, pipeline.id);
    assert.equal(build.number, 1);
    assert.deepEqual(
      jobs.map((job) => job.queueId),
      [gpu.id],
    );
  });

  it("gets its own number for each of 1,000 simultaneous webhooks", onlyInFullRun, async () => {
    const { path } = await world.acme.trigger();
    const before = await countBuilds(world);

    const ids = await Promise.all(Array.from({ length: 1000 }, () => deliver(path)));
    await eventually("1,000 builds", async () => (await countBuilds(world)) === before + 1000);

    const builds = (await allBuilds(world)).filter((build) => ids.includes(build.deliveryId ?? ""));
    const numbers = builds.map((build) => build.number).sort((a, b) => a - b);
    assert.equal(new Set(builds.map((build) => build.deliveryId)).size, 1000);
    assert.equal(new Set(numbers).size, 1000);
    assert.equal((numbers.at(-1) ?? 0) - (numbers[0] ?? 0), 999, "numbers have no gaps");
  });

  it("is created once, even if several workers get the delivery at once", async () => {
    const { path } = await world.acme.trigger();
    const ids = await Promise.all(Array.from({ length: 20 }, () => deliver(path)));
    const before = await countBuilds(world);
    const other = await world.another();
    const listBuilds = async () =>
      (await allBuilds(world)).filter((build) => ids.includes(build.deliveryId ?? ""));
    await Promise.all([world.services, other.services, other.services].map((each) => decideDue(each)));
    // The world's own worker may still decide some, which others leave out.
    await eventually("all builds", async () => (await listBuilds()).length >= 20);
    await decideDue(world.services);

    assert.equal((await listBuilds()).length, 20);
    assert.ok((await countBuilds(world)) <= before + 20);
  });

  it("is created even if the trigger is deleted after the webhook", async () => {
    const trigger = await world.acme.trigger({ buildBranch: "kept" });
    const id = await deliver(trigger.path);
    await deleteTrigger(world.services, world.acme.operator, trigger);

    assert.equal((await built(id)).branch, "kept");
  });
});

describeWorld("a delivery without a worker", openAcme, (world) => {
  it("is built soon when the clock was ahead as it was accepted", async () => {
    const { path } = await world.acme.trigger();
    world.clock.advance(8 * dayMs);
    const { body } = await post(world.url + path, "{}");
    world.clock.advance(-8 * dayMs);

    await decideDue(world.services);
    assert.equal((await findDelivery(world, body.id))?.status, "build_created");
  });

  it("is found by the next one, which nobody wakes", async () => {
    const { path } = await world.acme.trigger();
    const { body } = await post(world.url + path, "{}");
    assert.equal((await findDelivery(world, body.id))?.status, null);

    const { close } = openWorkerJobs(world.services);
    await eventually("it is built", async () => (await findDelivery(world, body.id))?.status);
    await close();

    assert.equal((await findDelivery(world, body.id))?.status, "build_created");
  });

  it("fails alone for a permanent error, and the rest of its batch is built", async () => {
    const broken = await createPipeline(world.services, world.acme.operator, {
      clusterId: world.acme.cluster.id,
      slug: "broken",
      name: "Broken",
      steps: [{ command: "make" }],
    });
    const bad = (await post(world.url + (await world.acme.trigger({}, "broken")).path, "{}")).body.id;
    const good = (await post(world.url + (await world.acme.trigger()).path, "{}")).body.id;
    await world.services.db.transaction(async (tx) => {
      const { pipelines } = tx.tables;
      const steps = [{ command: "x", agents: { queue: "gone" } }];
      await tx.update(pipelines).set({ steps }).where(eq(pipelines.id, broken.id));
    });

    await decideDue(world.services);

    const [failed, fine] = [await findDelivery(world, bad), await findDelivery(world, good)];
    assert.deepEqual([failed?.status, failed?.reason], ["failed", "build_creation_failed"]);
    assert.deepEqual([fine?.status, fine?.reason], ["build_created", null]);
    assert.equal(await buildOfDelivery(world, bad), undefined);
    assert.ok(await buildOfDelivery(world, good));
  });

  it("stays pending during a fault, while others of its batch are built", async () => {
    const { db } = world.services;
    const faulty = await createPipeline(world.services, world.acme.operator, {
      clusterId: world.acme.cluster.id,
      slug: "faulty",
      name: "Faulty",
      steps: [{ command: "make" }],
    });
    const setSteps = (steps: unknown) =>
      db.transaction(async (tx) => {
        const { pipelines } = tx.tables;
        await tx
          .update(pipelines)
          .set({ steps: steps as typeof faulty.steps })
          .where(eq(pipelines.id, faulty.id));
      });
    const bad = (await post(world.url + (await world.acme.trigger({}, "faulty")).path, "{}")).body.id;
    const good = (await post(world.url + (await world.acme.trigger()).path, "{}")).body.id;
    await setSteps(5);

    await decideDue(world.services);

    assert.equal((await findDelivery(world, good))?.status, "build_created");
    assert.equal((await findDelivery(world, bad))?.status, null);
    await setSteps(faulty.steps);
    await decideDue(world.services);
    assert.equal((await findDelivery(world, bad))?.status, null); // not before a while
    world.clock.advance(11_000);
    await decideDue(world.services);
    assert.equal((await findDelivery(world, bad))?.status, "build_created");
    assert.equal(
      (await db.select().from(db.tables.builds)).filter((row) => row.deliveryId === bad).length,
      1,
    );
  });
});

describe("the numbers of a pipeline's builds", () => {
  it("follow the order of arrival", async () => {
    const world = await startWorld(sqlite);
    const acme = await setUpOrganization(world);
    const { path } = await acme.trigger();
    const ids: string[] = [];
    for (let sent = 0; sent < 10; sent++) ids.push((await post(world.url + path, "{}")).body.id);

    await decideDue(world.services);

    const builds = (await allBuilds(world)).sort((a, b) => a.number - b.number);
    assert.deepEqual(
      builds.map((build) => build.deliveryId),
      ids,
    );
    await world.close();
  });
});
