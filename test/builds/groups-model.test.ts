import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { after, before, it } from "node:test";
import { asc } from "drizzle-orm";
import { finishedBuildStates, finishedJobStates, waitingJobStates } from "../../shared/vocabulary.ts";
import { randomNumbers } from "../graph/random-builds.ts";
import { agentTokenOf, type ScriptedAgent, startAgent } from "../helpers/agent.ts";
import { type Api, openApi } from "../helpers/api.ts";
import { describeOnBothDatabases } from "../helpers/databases.ts";

const seed = Number(process.env.TEST_SEED ?? randomInt(2 ** 31));
const maxBuilds = Number(process.env.TEST_BUILDS ?? 30);
const limits: Record<string, number> = { gate: 1, shared: 2 };

/** The first word of a command is its group. */
const inGroup = (group: string, name: string, more: object = {}) => ({
  command: `${group} ${name}`,
  concurrency_group: group,
  concurrency: limits[group],
  ...more,
});
const eager = { concurrency_method: "eager" };
const pipelines = [
  [
    inGroup("gate", "opens"),
    { wait: null },
    { command: "none deploys" },
    { wait: null },
    inGroup("gate", "closes"),
  ],
  [inGroup("shared", "a", { parallelism: 2 }), { command: "none b" }, inGroup("gate", "c")],
  [
    inGroup("shared", "d", { ...eager, priority: 1 }),
    { wait: null, continue_on_failure: true },
    inGroup("shared", "e", eager),
    inGroup("shared", "f"),
  ],
];

describeOnBothDatabases("three pipelines that share two groups", (database) => {
  let api: Api;
  before(async () => {
    api = await openApi(database);
  });
  after(() => api.close());

  it("never exceed a limit, overtake no gate, and all end", async (context) => {
    context.diagnostic(`TEST_SEED=${seed}`);
    const numbers = randomNumbers(seed);
    const random = (below: number) => Math.floor(numbers() * below);
    const { services, clock } = api.world;
    const { db } = services;
    const { builds, jobs } = db.tables;
    const queue = await api.newQueue();
    const token = await agentTokenOf(api.world, api.acme.cluster);
    const slugs = new Map<string, string>();
    for (const steps of pipelines) {
      const queued = steps.map((step) => ("wait" in step ? step : { ...step, agents: { queue: queue.key } }));
      const { id, slug } = await api.newPipeline({ steps: queued });
      slugs.set(id, slug);
    }
    /** Their jobs may come back before jobs that have started meanwhile. */
    const retried = new Set<string>();
    let looks = 0;
    let limited = 0;

    /** Reads all jobs at one moment, and compares what they do with their groups. */
    const look = async () => {
      const rows = await db
        .select({ id: jobs.id, state: jobs.state, command: jobs.ownCommand, buildId: jobs.buildId })
        .from(jobs)
        .orderBy(asc(jobs.buildId));
      looks++;
      for (const [group, limit] of Object.entries(limits)) {
        const members = rows.filter(
          ({ command, state }) => command?.startsWith(`${group} `) && !finishedJobStates.includes(state),
        );
        const isHolding = ({ state }: { state: string }) =>
          state !== "limited" && !(waitingJobStates as string[]).includes(state);
        const holding = members.filter(isHolding);
        limited += members.filter(({ state }) => state === "limited").length;
        assert.ok(holding.length <= limit, `${group} is held by ${JSON.stringify(holding)}`);
        if (group !== "gate") continue;
        // Ids of builds rise with their time.
        for (const { buildId } of holding) {
          const before = members.filter((other) => other.buildId < buildId && !retried.has(other.buildId));
          assert.deepEqual(before, [], `build ${buildId} has overtaken the gate`);
        }
      }
    };

    let made = 0;
    const makeBuilds = async () => {
      while (made < maxBuilds) {
        made++;
        clock.advance(10);
        const ids = [...slugs.keys()];
        await api.build(ids[random(ids.length)] as string);
        await look();
      }
    };
    const disturb = async () => {
      while (made < maxBuilds) {
        const all = await db.select().from(builds);
        const build = all[random(all.length + 3)];
        if (build) {
          const slug = slugs.get(build.pipelineId) as string;
          const path = `/pipelines/${slug}/builds/${build.number}`;
          if (random(2) === 0) await api.send("PUT", `${path}/cancel`);
          else if (build.state === "failed") {
            retried.add(build.id);
            for (const { id, state } of (await api.send("GET", path)).body.jobs)
              if (state === "failed") await api.send("PUT", `${path}/jobs/${id}/retry`);
          }
        }
        await look();
      }
    };
    const allEnded = async () =>
      made >= maxBuilds &&
      (await db.select().from(builds)).every(({ state }) => finishedBuildStates.includes(state));
    const run = async (agent: ScriptedAgent) => {
      for (let idle = 0; idle < 200; ) {
        const jobId = await agent.offered();
        await look();
        if (jobId === undefined) {
          if (await allEnded()) return;
          idle++;
          continue;
        }
        idle = 0;
        // It may be canceled meanwhile.
        const begun = await agent.begin(jobId).catch(() => undefined);
        await look();
        if (begun) await agent.finish(jobId, random(5) === 0 ? 1 : 0, begun.token);
      }
    };
    const agents = [];
    for (let index = 0; index < 4; index++)
      agents.push(
        await startAgent(api.world.url, token, { name: `agent-${index}`, meta_data: [`queue=${queue.key}`] }),
      );
    await Promise.all([makeBuilds(), disturb(), ...agents.map(run)]);

    const open = await db.select().from(builds);
    assert.deepEqual(
      open.filter(({ state }) => !finishedBuildStates.includes(state)),
      [],
    );
    assert.deepEqual(await db.select().from(db.tables.concurrencyMembers), []);
    assert.ok(limited > 0, "no job had to wait for its group");
    context.diagnostic(`${looks} looks at ${open.length} builds`);
  });
});
