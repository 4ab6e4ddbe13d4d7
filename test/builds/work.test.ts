import assert from "node:assert/strict";
import { before, it } from "node:test";
import { eq } from "drizzle-orm";
import { loseUnseenAgents, markListening } from "../../shared/agents/lost.ts";
import { workMs } from "../../shared/builds/rows/work.ts";
import { secondMs } from "../../shared/durations.ts";
import { tellBuild } from "../../shared/messages/tell.ts";
import { openAgentApi, type ScriptedAgent } from "../helpers/agent.ts";
import { openSettling } from "../helpers/builds.ts";
import { describeWorld } from "../helpers/databases.ts";

describeWorld("the work of a build", openAgentApi, (api) => {
  before(() => api.world.clock.freeze());

  const pass = (seconds: number) => api.world.clock.advance(seconds * secondMs);

  const start = async (...steps: (string | object)[]) => {
    const made = await api.buildOnQueue(...steps);
    const agents = [await made.newAgent(), await made.newAgent()] as const;
    const { db, clock } = api.world.services;
    const { builds } = db.tables;
    const ofPipeline = eq(builds.pipelineId, made.pipeline.id);
    const row = async () => {
      const [build] = await db.select().from(builds).where(ofPipeline);
      assert.ok(build);
      return build;
    };
    return {
      ...made,
      agents,
      row,
      set: (values: object) => db.transaction((tx) => tx.update(builds).set(values).where(ofPipeline)),
      seconds: async () => (workMs(await row(), clock.now()) ?? 0) / secondMs,
      told: async () => (await tellBuild(api.world.services, await row()))?.workMs,
      put: async (path: string) => {
        const { status, text } = await api.send("PUT", `${made.path}${path}`, { body: {} });
        assert.ok(status < 300, text);
      },
      retry: async (jobId: string) => {
        const { status, text } = await api.send("PUT", `${made.path}/jobs/${jobId}/retry`);
        assert.equal(status, 200, text);
      },
    };
  };
  const begin = async (agent: ScriptedAgent): Promise<string> => {
    const id = (await agent.offered()) as string;
    await agent.begin(id);
    return id;
  };
  /** @returns the id of its job */
  const run = async (agent: ScriptedAgent, seconds: number, exitStatus = 0): Promise<string> => {
    const id = await begin(agent);
    pass(seconds);
    await agent.finish(id, exitStatus);
    return id;
  };

  it("grows while a job runs", async () => {
    const build = await start({});
    pass(5);
    assert.equal(await build.seconds(), 0);
    await begin(build.agents[0]);

    pass(2);

    assert.equal(await build.seconds(), 2);
    assert.equal(await build.told(), null);
  });

  it("leaves out the time before a retry, and that in which the retry waits for an agent", async () => {
    const build = await start({});
    const failed = await run(build.agents[0], 4, 1);
    pass(3600);
    await build.retry(failed);
    pass(600);
    assert.equal(await build.seconds(), 4);

    await run(build.agents[0], 3);

    pass(100);
    assert.equal(await build.seconds(), 7);
    assert.equal(await build.told(), 7 * secondMs);
    const { startedAt, finishedAt } = await build.row();
    assert.equal(Number(finishedAt) - Number(startedAt), 4207 * secondMs);
  });

  it("counts jobs that run beside each other once, also a retry", async () => {
    const build = await start({}, {});
    const [one, other] = build.agents;
    const long = await begin(one);
    pass(1);
    const failed = await run(other, 2, 1);
    await build.retry(failed);
    pass(1);
    const retry = await begin(other);
    pass(1);
    await one.finish(long);
    pass(4);
    await other.finish(retry);

    assert.equal(await build.seconds(), 9);
  });

  it("leaves out the time in which it waits for people", async () => {
    const build = await start({}, { block: "Go on?" }, {});
    await run(build.agents[0], 2);
    pass(7200);
    assert.equal(await build.seconds(), 2);
    const [, block] = (await build.read()).jobs;
    await build.put(`/jobs/${block.id}/unblock`);
    pass(60);

    await run(build.agents[0], 3);

    assert.equal(await build.seconds(), 5);
  });

  it("ends with the last job that is being canceled", async () => {
    const build = await start({}, {});
    const id = await begin(build.agents[0]);
    pass(2);
    await build.put("/cancel");
    pass(3);
    assert.equal(await build.seconds(), 5);

    await build.agents[0].finish(id, 143);

    pass(60);
    assert.equal(await build.seconds(), 5);
    assert.equal((await build.row()).state, "canceled");
  });

  it("leaves out the time in which a job of a lost agent waits for another one", async () => {
    const build = await start({});
    const lost = (await build.agents[0].offered()) as string;
    await build.agents[0].begin(lost);
    for (let passed = 0; passed < 200; passed += 10) {
      pass(10);
      await markListening(api.world.services);
    }
    await loseUnseenAgents(api.world.services);
    pass(300);
    assert.equal(await build.seconds(), 200);

    await run(await build.newAgent(), 5);

    assert.equal(await build.seconds(), 205);
  });

  it("leaves out the time before a rebuilt job of a build that it triggered", async () => {
    const { settle, close } = openSettling(api.world.services);
    const child = await api.newPipeline({ steps: [{ command: "make" }] });
    const build = await start({ trigger: child.slug });
    await settle();
    pass(3);
    const [made] = (await api.send("GET", `/pipelines/${child.slug}/builds`)).body;
    const ofChild = `/pipelines/${child.slug}/builds/${made.number}`;
    await api.send("PUT", `${ofChild}/cancel`);
    await settle();
    pass(3600);
    assert.equal(await build.seconds(), 3);

    await api.send("PUT", `${ofChild}/jobs/${made.jobs[0].id}/retry`);
    await settle();
    pass(4);

    assert.equal(await build.seconds(), 7);
    await close();
  });

  it("is the whole time of a build that nobody measured, to which a retry adds its own", async () => {
    const build = await start({});
    const failed = await begin(build.agents[0]);
    await build.set({ workedMs: null, workingSince: null });
    pass(9);
    assert.equal(await build.seconds(), 9);
    await build.agents[0].finish(failed, 1);
    pass(3600);
    assert.equal(await build.seconds(), 9);

    await build.retry(failed);
    await run(build.agents[0], 3);

    assert.equal(await build.seconds(), 12);
  });

  it("ends with a build that a process without measures ended", async () => {
    const build = await start({});
    const failed = await run(build.agents[0], 4, 1);
    const { startedAt } = await build.row();
    await build.set({ workedMs: 0, workingSince: startedAt });
    pass(3600);
    assert.equal(await build.seconds(), 4);

    await build.retry(failed);
    pass(60);

    assert.equal(await build.seconds(), 4);
  });
});
