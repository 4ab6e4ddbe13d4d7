import assert from "node:assert/strict";
import { it } from "node:test";
import { openHandOut } from "../../shared/agents/hand-out/hand-out.ts";
import { disconnectAgent, loseUnseenAgents, markListening } from "../../shared/agents/lost.ts";
import { findAgent, markSeen } from "../../shared/agents/store.ts";
import { hourMs, secondMs } from "../../shared/durations.ts";
import type { Services } from "../../shared/services/services.ts";
import { agentTokenOf, startAgent } from "../helpers/agent.ts";
import { openApi } from "../helpers/api.ts";
import { describeWorld } from "../helpers/databases.ts";

describeWorld("a session that ends while its agent gets a job", openApi, (api) => {
  /** Services whose next transaction begins after the agent got a job. */
  const setUp = async () => {
    const { services } = api.world;
    const { id, key } = await api.newQueue();
    const pipeline = await api.newPipeline({ steps: [{ command: "a", agents: { queue: key } }] });
    await api.build(pipeline.id);
    const token = await agentTokenOf(api.world, api.acme.cluster, { queueId: id });
    const agent = await startAgent(api.world.url, token);
    let isFirst = true;
    const transaction: Services["db"]["transaction"] = async (work) => {
      if (isFirst) {
        isFirst = false;
        assert.equal((await openHandOut(services).ping(agent.token)).action, "run");
      }
      return services.db.transaction(work);
    };
    const racing: Services = { ...services, db: { ...services.db, transaction } };
    const jobState = async () =>
      (await api.send("GET", `/pipelines/${pipeline.slug}/builds/1`)).body.jobs[0].state;
    return { racing, agent, jobState, row: async () => findAgent(services.db, agent.id) };
  };

  it("gives it back, if the agent disconnects", async () => {
    const { racing, row, jobState } = await setUp();
    const present = await row();
    assert.ok(present);

    await disconnectAgent(racing, present);

    assert.equal((await row())?.state, "disconnected");
    assert.equal(await jobState(), "scheduled");
  });

  it("gives it back, if the agent is lost", async () => {
    const { racing, row, jobState } = await setUp();
    for (let passed = 0; passed < 12; passed++) {
      api.world.clock.advance(10 * secondMs);
      await markListening(api.world.services);
    }

    await loseUnseenAgents(racing);

    assert.equal((await row())?.state, "lost");
    assert.equal(await jobState(), "scheduled");
  });

  it("ends, though an ingress process with a clock an hour ahead heard its agent", async () => {
    const { services, clock } = api.world;
    const { agent, row } = await setUp();
    const ahead = new Date(clock.now().getTime() + hourMs);
    await services.db.transaction((tx) => markSeen(tx, [agent.id], ahead));
    await markListening({ ...services, clock: { now: () => ahead } });
    for (let passed = 0; passed < 12; passed++) {
      clock.advance(10 * secondMs);
      await markListening(services);
      await loseUnseenAgents(services);
    }

    assert.equal((await row())?.state, "lost");
  });
});
