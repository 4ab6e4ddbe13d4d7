import assert from "node:assert/strict";
import { before, it } from "node:test";
import { eq } from "drizzle-orm";
import { loseUnseenAgents, markListening } from "../../shared/agents/lost.ts";
import { dayMs, minuteMs, secondMs } from "../../shared/durations.ts";
import { openAgentApi, type ScriptedAgent } from "../helpers/agent.ts";
import { build, unknownId } from "../helpers/api.ts";
import { describeWorld, withSettings } from "../helpers/databases.ts";
import { setUpOrganization, type TestOrganization } from "../helpers/organization.ts";

const leaseOver = "The agent does not have this job, or no longer. Nothing was changed";
const maxFinishes = 20;

/** As version 3.20 ends a job: nothing but a 2xx or a 422 stops it, and its heartbeats go on meanwhile. */
async function finishAsOldAgent(agent: ScriptedAgent, jobId: string): Promise<number> {
  for (let tries = 0; tries < maxFinishes; tries++) {
    const { status } = await agent.finish(jobId, 0, agent.token);
    if (status < 300 || status === 422) return status;
    await agent.send("POST", "/heartbeat", {});
  }
  throw new Error("The agent repeats its finish for ever.");
}

describeWorld("an agent that lost its job", withSettings(openAgentApi, { JOB_RESTARTS: "1" }), (api) => {
  let globex: TestOrganization;

  before(async () => {
    globex = await setUpOrganization(api.world, "globex");
  });

  const setUp = async (jobs = 1) => {
    const { newAgent, read, states } = await api.buildOnQueue(...Array(jobs).fill({}));
    return { agentOf: newAgent, read, states };
  };
  /** An agent that was frozen while it had a job, and so lost it. */
  const setUpLost = async (jobs?: number) => {
    const parts = await setUp(jobs);
    const agent = await parts.agentOf({ version: "3.20.0" });
    const jobId = (await agent.offered()) as string;
    const { token: jobToken } = await agent.begin(jobId);
    await freeze();
    return { ...parts, agent, jobId, jobToken };
  };
  const freeze = async () => {
    for (let passed = 0; passed < 2 * minuteMs; passed += 10 * secondMs) {
      api.world.clock.advance(10 * secondMs);
      await markListening(api.world.services);
    }
    await loseUnseenAgents(api.world.services);
  };
  const finishOf = async (agent: ScriptedAgent, jobId: string, given?: string) => {
    const { status, body } = await agent.finish(jobId, 0, given);
    return [status, body.message];
  };
  const readAgent = async ({ id }: ScriptedAgent) => (await api.send("GET", `/agents/${id}`)).body;

  it("is free after its finish, though it never pinged, and takes the next job", async () => {
    const { agent, jobId, states } = await setUpLost();
    assert.equal((await agent.send("POST", "/heartbeat", {})).status, 200);

    assert.equal(await finishAsOldAgent(agent, jobId), 422);

    assert.deepEqual(await states(), ["scheduled"], "its result does not count");
    assert.equal(await agent.runOne(), jobId);
    assert.deepEqual(await states(), ["passed"]);
  });

  it("is free too if another agent has the job, or its restarts are used up", async () => {
    const { agent, agentOf, jobId, jobToken, states } = await setUpLost();
    const second = await agentOf();
    const { token: presentToken } = await second.begin((await second.offered()) as string);

    for (const given of [agent.token, jobToken])
      assert.deepEqual(await finishOf(agent, jobId, given), [422, leaseOver]);
    assert.deepEqual(await states(), ["running"]);
    await freeze();
    assert.deepEqual(await states(), ["failed"]);
    for (const given of [second.token, presentToken])
      assert.deepEqual(await finishOf(second, jobId, given), [422, leaseOver], "the server ended it");
    assert.deepEqual(await states(), ["failed"]);
  });

  it("cannot write to its log while another agent is about to accept the job", async () => {
    const { agentOf, jobId, jobToken } = await setUpLost();
    const second = await agentOf();
    assert.equal(await second.offered(), jobId);

    const { url } = await api.world.another(); // has not seen the first attempt
    const path = `/v3/jobs/${jobId}/chunks?sequence=1&offset=0&size=5`;
    const headers = { Authorization: `Token ${jobToken}`, "Content-Type": "text/plain" };
    const { status } = await fetch(url + path, { method: "POST", headers, body: "late\n" });

    assert.equal(status, 404);
    await second.begin(jobId);
  });

  it("is free too if its session is over: stopped, disconnected, or lost for a day", async () => {
    const stopped = await setUpLost();
    await stopped.agent.send("POST", "/heartbeat", {});
    await api.send("PUT", `/agents/${stopped.agent.id}/stop`);
    await stopped.agent.send("POST", "/disconnect");
    const disconnected = await setUpLost();
    await disconnected.agent.send("POST", "/disconnect");
    const lost = await setUpLost();
    api.world.clock.advance(dayMs);
    await freeze();

    for (const { agent, jobId, states } of [stopped, disconnected, lost]) {
      assert.equal((await agent.send("GET", "/ping")).status, 401, "the session is over");
      assert.equal(await finishAsOldAgent(agent, jobId), 422);
      assert.deepEqual(await states(), ["scheduled"]);
    }
  });

  it("reads the same answer for its job, another's, another organization's and none", async () => {
    const { agent, jobId } = await setUpLost();
    const other = await setUp();
    const running = await other.agentOf();
    await build(api.world, globex.pipeline.id, 1);
    const { jobs } = api.world.services.db.tables;
    const [foreign] = await api.world.services.db
      .select()
      .from(jobs)
      .where(eq(jobs.queueId, globex.queue.id));
    const { token: runningToken } = await running.begin((await running.offered()) as string);
    const [{ id: otherJobId }] = (await other.read()).jobs;

    for (const id of [jobId, otherJobId, foreign?.id ?? "", unknownId, "x"])
      for (const given of id === otherJobId ? [agent.token] : [agent.token, runningToken])
        assert.deepEqual(await finishOf(agent, id, given), [422, leaseOver], id);
    assert.equal((await running.finish(otherJobId, 0, runningToken)).status, 200);
    assert.equal((await running.finish(otherJobId, 0, runningToken)).status, 200, "as the first time");
    assert.equal((await running.finish(otherJobId, 1)).status, 200, "by its session too");
    assert.deepEqual(await other.states(), ["passed"]);
  });

  it("gets 404 for its other writes, and their tokens' data is closed", async () => {
    const { agent, jobId, jobToken } = await setUpLost();
    for (const given of [agent.token, jobToken]) {
      assert.equal((await agent.send("PUT", `/jobs/${jobId}/start`, {}, given)).status, 404);
      const chunk = `/jobs/${jobId}/chunks?sequence=1&offset=0&size=0`;
      assert.equal((await agent.send("POST", chunk, undefined, given)).status, 404);
    }
    const keys = (given: string) => agent.send("POST", `/jobs/${jobId}/data/keys`, undefined, given);
    assert.equal((await keys(agent.token)).status, 404);
    assert.equal((await keys(jobToken)).status, 401);
  });

  it("reads that its job is canceled, by its session too, and still may not write to it", async () => {
    const { agent, agentOf, jobId, jobToken, states } = await setUpLost();
    const stateOf = async (given: string) => {
      const { status, body } = await agent.send("GET", `/jobs/${jobId}`, undefined, given);
      return [status, body.state];
    };
    await agent.send("POST", "/heartbeat", {});
    for (const given of [agent.token, jobToken]) assert.deepEqual(await stateOf(given), [200, "canceled"]);

    const second = await agentOf();
    const { token: presentToken } = await second.begin((await second.offered()) as string);

    for (const given of [agent.token, jobToken]) assert.deepEqual(await stateOf(given), [200, "canceled"]);
    assert.deepEqual(await stateOf(presentToken), [200, "running"]);
    assert.equal((await agent.send("PUT", `/jobs/${jobId}/start`, {})).status, 404);
    assert.equal((await agent.send("POST", `/jobs/${jobId}/chunks?sequence=1&offset=0&size=0`)).status, 404);
    assert.deepEqual(await finishOf(agent, jobId), [422, leaseOver]);
    assert.deepEqual(await states(), ["running"]);
  });

  it("is shown so from its loss until it asks for a job", async () => {
    const { agent, jobId } = await setUpLost(2);
    const lost = async () => {
      const { connection_state, lost_job_id, job } = await readAgent(agent);
      return [connection_state, lost_job_id, job];
    };
    assert.deepEqual(await lost(), ["lost", jobId, null]);
    await agent.send("POST", "/heartbeat", {});
    assert.deepEqual(await lost(), ["connected", jobId, null]);
    await finishAsOldAgent(agent, jobId);
    assert.deepEqual(await lost(), ["connected", jobId, null], "it may still run its command");
    const listed = (await api.send("GET", "/agents?per_page=100")).body;
    assert.equal(listed.find(({ id }: { id: string }) => id === agent.id).lost_job_id, jobId);

    await api.send("PUT", `/agents/${agent.id}/pause`, {});
    assert.equal((await agent.ping()).action, "pause");

    assert.deepEqual(await lost(), ["connected", null, null]);
  });

  it("is not shown so if it had none, or comes back by a ping", async () => {
    const { agentOf } = await setUp();
    const [busy, idle] = [await agentOf(), await agentOf()];
    await busy.begin((await busy.offered()) as string);
    await freeze();
    assert.equal((await readAgent(idle)).lost_job_id, null);
    assert.notEqual((await readAgent(busy)).lost_job_id, null);

    await busy.ping();

    const { connection_state, lost_job_id } = await readAgent(busy);
    assert.deepEqual([connection_state, lost_job_id], ["connected", null]);
  });
});
