import assert from "node:assert/strict";
import { beforeEach, it } from "node:test";
import { eq } from "drizzle-orm";
import { pauseAgent, requireAgent } from "../../shared/agents/control.ts";
import { listWaitingReasons, type WaitingReason } from "../../shared/agents/waiting/reason.ts";
import { createBuildByHand } from "../../shared/builds/making/by-request.ts";
import { listJobsPage } from "../../shared/builds/reading/job-list-store.ts";
import { pauseDispatch } from "../../shared/dispatch/pause.ts";
import { newIds } from "../../shared/ids.ts";
import { createPipeline } from "../../shared/pipelines/pipelines.ts";
import { createQueue } from "../../shared/queues/queues.ts";
import type { Queue } from "../../shared/queues/store.ts";
import type { AgentTags, Step } from "../../shared/vocabulary.ts";
import { agentTokenOf, type ScriptedAgent, startAgent } from "../helpers/agent.ts";
import { fanOut } from "../helpers/builds.ts";
import { describeWorld } from "../helpers/databases.ts";
import { openAcme } from "../helpers/organization.ts";

describeWorld("the reason why a job waits", openAcme, (world) => {
  let queue: Queue;
  let made = 0;

  beforeEach(async () => {
    queue = await createQueue(world.services, world.acme.operator, world.acme.cluster, {
      key: `queue-${++made}`,
    });
  });

  const start = async (...tags: string[]): Promise<ScriptedAgent> => {
    const token = await agentTokenOf(world, world.acme.cluster, { queueId: queue.id });
    return startAgent(world.url, token, { meta_data: tags });
  };
  const pause = async ({ id }: ScriptedAgent) =>
    pauseAgent(
      world.services,
      world.acme.operator,
      await requireAgent(world.services.db, world.acme.id, id),
      {
        note: null,
        minutes: null,
      },
    );
  /** The reasons of the jobs of a new build, in their order. */
  const reasonsOf = async (...steps: Step[]) => {
    const { services } = world;
    const name = `pipeline-${++made}`;
    const pipeline = await createPipeline(services, world.acme.operator, {
      clusterId: world.acme.cluster.id,
      name,
      steps,
    });
    const { build } = await createBuildByHand(services, world.acme.operator, pipeline, {});
    const { rows } = await listJobsPage(services.db, build.id, { limit: 100, offset: 0 });
    const jobs = rows.map(({ job }) => job);
    const reasons = await listWaitingReasons(services, build, jobs);
    return { jobs, reasons: jobs.map(({ id }) => reasons.get(id)) };
  };
  const reasonFor = async (
    tags: AgentTags = {},
  ): Promise<Partial<Omit<WaitingReason, "queue">> | undefined> => {
    const { reasons } = await reasonsOf({ command: "make", agents: { queue: queue.key, ...tags } });
    const [reason] = reasons;
    if (!reason || !("queue" in reason)) return reason;
    const { queue: found, ...rest } = reason;
    assert.equal(found.id, queue.id);
    return rest;
  };

  it("is a step that has not ended, through a wait", async () => {
    const { jobs, reasons } = await reasonsOf(
      { command: "first" },
      { command: "second" },
      { type: "wait" },
      { command: "third" },
      { command: "fourth", depends_on: [{ step: "later" }] },
    );
    const [first, second] = jobs.map(({ id }) => id);
    assert.deepEqual(reasons.slice(3), [
      { kind: "steps", jobIds: [first, second], missingKeys: [], hasMore: false },
      { kind: "steps", jobIds: [], missingKeys: ["later"], hasMore: false },
    ]);
  });

  it("is a paused queue", async () => {
    await pauseDispatch(world.services, world.acme.operator, queue, "New disks");
    await fanOut(world.services, queue.id);
    assert.deepEqual(await reasonFor(), { kind: "queue_paused" });
  });

  it("is a queue without an agent that takes jobs", async () => {
    const token = await agentTokenOf(world, world.acme.cluster, { queueId: queue.id });
    await startAgent(world.url, token, { ignore_in_dispatches: true });
    assert.deepEqual(await reasonFor(), { kind: "no_agent", tags: [] });
  });

  it("is so with the tags that an agent needs", async () => {
    assert.deepEqual(await reasonFor({ os: "linux" }), { kind: "no_agent", tags: ["os=linux"] });
  });

  it("is a tag that no agent has", async () => {
    await start("os=linux", "size=large");
    assert.deepEqual(await reasonFor({ os: "linux", gpu: "*" }), {
      kind: "no_agent_with_tags",
      tags: ["gpu", "os=linux"],
      missing: ["gpu"],
      isExact: true,
    });
  });

  it("is tags that no agent has together", async () => {
    await start("os=linux");
    await start("gpu=yes");
    assert.deepEqual(await reasonFor({ os: "linux", gpu: "yes" }), {
      kind: "no_agent_with_tags",
      tags: ["gpu=yes", "os=linux"],
      missing: [],
      isExact: true,
    });
  });

  it("is agents that are all paused, or all busy, among those with its tags", async () => {
    await start("os=macos");
    const linux = await start("os=linux");
    assert.deepEqual(await reasonFor({ os: "linux" }), { kind: "agents_busy", agents: 1, isExact: true });
    await pause(linux);
    assert.deepEqual(await reasonFor({ os: "linux" }), { kind: "agents_paused", agents: 1, isExact: true });
    assert.deepEqual(await reasonFor(), { kind: "agents_busy", agents: 2, isExact: true });
  });

  it("is that of each job's own queue, whose agents are read together", async () => {
    const other = await createQueue(world.services, world.acme.operator, world.acme.cluster, {
      key: `other-${made}`,
    });
    await start("os=linux");
    const token = await agentTokenOf(world, world.acme.cluster, { queueId: other.id });
    for (const os of ["macos", "windows"]) await startAgent(world.url, token, { meta_data: [`os=${os}`] });

    const { reasons } = await reasonsOf(
      { command: "make", agents: { queue: queue.key } },
      { command: "make", agents: { queue: other.key } },
      { command: "make", agents: { queue: other.key, os: "linux" } },
    );

    assert.deepEqual(
      reasons.map((reason) => reason?.kind),
      ["agents_busy", "agents_busy", "no_agent_with_tags"],
    );
    assert.deepEqual(
      reasons.map((reason) => reason && "agents" in reason && reason.agents),
      [1, 2, false],
    );
  });

  it("looks at 200 agents of a queue, and says so", async () => {
    const { id } = await start("os=linux");
    const { db } = world.services;
    const { agents } = db.tables;
    const [agent] = await db.select().from(agents).where(eq(agents.id, id));
    assert.ok(agent);
    await db.transaction((tx) =>
      tx.insertMany(
        agents,
        newIds(new Date(), 200).map((id, index) => ({
          ...agent,
          id,
          tokenHash: `hash ${made} ${index}`,
        })),
      ),
    );
    assert.deepEqual(await reasonFor(), { kind: "agents_busy", agents: 200, isExact: false });
    assert.deepEqual((await reasonFor({ os: "plan9" }))?.kind, "no_agent_with_tags");
  });

  it("is none for a job that does not wait", async () => {
    const { reasons } = await reasonsOf({ command: "make", skip: true }, { type: "wait" });
    assert.deepEqual(reasons, [undefined, undefined]);
  });
});
