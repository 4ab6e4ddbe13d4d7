import assert from "node:assert/strict";
import { it } from "node:test";
import { takeBackOffers } from "../../shared/agents/expire.ts";
import { minuteMs, secondMs } from "../../shared/durations.ts";
import { openAgentApi, type ScriptedAgent, startAgent } from "../helpers/agent.ts";
import { describeWorld, withSettings } from "../helpers/databases.ts";

const offerMs = 20 * secondMs;

const settings = { JOB_RESTARTS: "1", JOB_OFFER_SECONDS: "20" };

describeWorld("jobs that agents do not accept, or drop", withSettings(openAgentApi, settings), (api) => {
  /** Builds with a queue of their own. */
  const setUp = async (jobs = 1, given: object = {}) => {
    const queue = await api.newQueue(given);
    const command = { command: "make", agents: { queue: queue.key } };
    const pipeline = await api.newPipeline({ steps: Array(jobs).fill(command) });
    await api.build(pipeline.id);
    const path = `/pipelines/${pipeline.slug}/builds/1`;
    const read = async () => (await api.send("GET", path)).body.jobs;
    const states = async () => (await read()).map((job: { state: string }) => job.state).join(" ");
    const newAgent = (given = {}) =>
      startAgent(api.world.url, api.agentToken, { meta_data: [`queue=${queue.key}`], ...given });
    return { newAgent, read, states, path };
  };
  const lapse = async () => {
    api.world.clock.advance(offerMs + secondMs);
    await takeBackOffers(api.world.services);
  };
  const accept = (agent: ScriptedAgent, jobId: string) => agent.send("PUT", `/jobs/${jobId}/accept`);
  const start = (agent: ScriptedAgent, jobId: string, given: string) =>
    agent.send("PUT", `/jobs/${jobId}/start`, { started_at: new Date().toISOString() }, given);

  it("an offer that is not accepted in time goes to another agent, and is no restart", async () => {
    const { newAgent, states } = await setUp();
    const [silent, other] = [await newAgent(), await newAgent()];
    const jobId = (await silent.offered()) as string;
    api.world.clock.advance(offerMs - secondMs);
    await takeBackOffers(api.world.services);
    assert.equal(await silent.offered(), jobId, "still in time");

    await lapse();

    assert.equal(await silent.offered(), undefined, "the other agent is free");
    assert.equal((await accept(silent, jobId)).status, 404, "it has lost the job");
    assert.equal(await other.offered(), jobId);
    const { env } = await other.begin(jobId);
    assert.equal(env.BUILDKITE_RETRY_COUNT, "0");
    assert.equal((await other.finish(jobId)).status, 200);
    assert.equal(await states(), "passed");
  });

  it("the agent gets it back if no other may take it, however often", async () => {
    const { newAgent, states } = await setUp(2);
    const agent = await newAgent();
    const busy = await newAgent();
    await busy.begin((await busy.offered()) as string);
    const jobId = await agent.offered();
    for (let times = 0; times < 3; times++) {
      await lapse();
      assert.equal(await agent.offered(), jobId);
    }
    assert.equal(await agent.runOne(), jobId);
    assert.equal(await states(), "running passed");
  });

  it("of two agents that do not accept, each has its turn; the job does not stay behind", async () => {
    const { newAgent } = await setUp();
    const [one, two] = [await newAgent(), await newAgent()];
    const jobId = await one.offered();
    await lapse();
    assert.deepEqual([await one.offered(), await two.offered()], [undefined, jobId]);
    await lapse();
    assert.equal(await one.runOne(), jobId, "both left it");
  });

  it("it takes other jobs meanwhile, and may have the job again after one that it finished", async () => {
    const { newAgent } = await setUp(2);
    const [agent, other] = [await newAgent(), await newAgent()];
    const first = await agent.offered();
    await lapse();
    const second = await agent.runOne();
    assert.ok(second !== undefined && second !== first);
    assert.equal(await agent.offered(), first);
    assert.equal(await other.offered(), undefined);
  });

  it("it gets a retried job back that the other agent has failed and may not take", async () => {
    const { newAgent, read, path } = await setUp(1, { retry_agent_affinity: "prefer-different" });
    const [failing, silent] = [await newAgent(), await newAgent()];
    await failing.runOne(1);
    const [{ id }] = await read();
    await api.send("PUT", `${path}/jobs/${id}/retry`);
    const jobId = await silent.offered();
    assert.ok(jobId !== undefined);
    await lapse();
    assert.equal(await failing.offered(), undefined);
    assert.equal(await silent.runOne(), jobId);
  });

  it("an agent that asks no more loses the offer too", async () => {
    const { newAgent } = await setUp();
    const [silent, other] = [await newAgent(), await newAgent()];
    const jobId = await silent.offered();
    assert.equal(await other.offered(), undefined);
    await lapse();
    assert.equal(await other.runOne(), jobId);
  });

  it("an accept whose answer was lost is repeated, until the job starts", async () => {
    const { newAgent, states } = await setUp();
    const agent = await newAgent();
    const jobId = (await agent.offered()) as string;
    assert.equal((await accept(agent, jobId)).status, 200);
    api.world.clock.advance(minuteMs - secondMs);
    await takeBackOffers(api.world.services);
    assert.equal(await agent.offered(), jobId, "accepted, so that no offer lapses");
    const again = await accept(agent, jobId);
    assert.equal(again.status, 200);
    assert.equal((await start(agent, jobId, again.body.token)).status, 200);
    assert.equal((await agent.finish(jobId)).status, 200);
    assert.equal(await states(), "passed");
  });

  it("a job that was accepted and never started goes back as a restart, at most JOB_RESTARTS times", async () => {
    const { newAgent, read } = await setUp();
    const agent = await newAgent();
    const jobId = (await agent.offered()) as string;
    const { body } = await accept(agent, jobId);
    api.world.clock.advance(minuteMs + secondMs);
    assert.equal(await agent.offered(), undefined, "it gave the job back");
    assert.equal((await start(agent, jobId, body.token)).status, 404, "its attempt is over");
    assert.equal(await agent.offered(), jobId);
    await accept(agent, jobId);
    api.world.clock.advance(minuteMs + secondMs);
    await agent.ping();
    const [{ state, exit_status }] = await read();
    assert.deepEqual([state, exit_status], ["failed", -1]);
  });

  it("an agent that starts late keeps the job, as does one that has no time to ping", async () => {
    const { newAgent, states } = await setUp();
    const agent = await newAgent();
    const jobId = (await agent.offered()) as string;
    const { body } = await accept(agent, jobId);
    api.world.clock.advance(10 * minuteMs);
    await takeBackOffers(api.world.services);
    assert.equal((await start(agent, jobId, body.token)).status, 200);
    assert.equal((await agent.ping()).action, "idle", "a ping that was late");
    assert.equal((await agent.finish(jobId)).status, 200);
    assert.equal(await states(), "passed");
  });

  it("an agent that is paused, or asked to stop, gives back a job that it dropped", async () => {
    for (const isStarted of [true, false])
      for (const [call, action] of [["/pause", "pause"] as const, ["/stop", "disconnect"] as const]) {
        const { newAgent, states } = await setUp();
        const agent = await newAgent();
        const jobId = (await agent.offered()) as string;
        if (isStarted) await agent.begin(jobId);
        else await accept(agent, jobId);
        await agent.send("POST", call, {});
        assert.equal((await agent.ping()).action, action);
        assert.match(await states(), /^(running|assigned)$/);
        api.world.clock.advance(minuteMs + secondMs);
        await agent.ping();
        assert.equal(await states(), "scheduled", call);
        assert.equal((await agent.ping()).action, action);
      }
  });
});
