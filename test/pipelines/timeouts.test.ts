import assert from "node:assert/strict";
import { it } from "node:test";
import { eq } from "drizzle-orm";
import { minuteMs } from "../../shared/durations.ts";
import { openAgentApi, startAgent } from "../helpers/agent.ts";
import { describeWorld } from "../helpers/databases.ts";

describeWorld("time-outs of a pipeline", openAgentApi, (api) => {
  it("hold when a job starts, and its agent is told", async () => {
    const { key } = await api.newQueue();
    const { id, slug } = await api.newPipeline({
      default_timeout_in_minutes: 7,
      maximum_timeout_in_minutes: 9,
      steps: [
        { command: "none", agents: { queue: key } },
        { command: "long", agents: { queue: key }, timeout_in_minutes: 60 },
      ],
    });
    await api.build(id);
    const { services } = api.world;
    const { jobs } = services.db.tables;
    for (const minutes of [7, 9]) {
      const agent = await startAgent(api.world.url, api.agentToken, { meta_data: [`queue=${key}`] });
      const job = (await agent.offered()) as string;
      const { env } = await agent.begin(job);
      const [row] = await services.db.select().from(jobs).where(eq(jobs.id, job));
      const started = row?.startedAt?.getTime() ?? Number.NaN;
      assert.equal(row?.timesOutAt?.getTime(), started + minutes * minuteMs);
      assert.equal(env.BUILDKITE_TIMEOUT, String(minutes));
    }
    const none = { default_timeout_in_minutes: null, maximum_timeout_in_minutes: null };
    const { status, body } = await api.send("PATCH", `/pipelines/${slug}`, { body: none });
    assert.equal(status, 200);
    assert.deepEqual([body.default_timeout_in_minutes, body.maximum_timeout_in_minutes], [null, null]);
  });

  it("have two names, of which callers send either", async () => {
    const { slug } = await api.newPipeline({ default_command_step_timeout: 7 });
    const change = (body: object) => api.send("PATCH", `/pipelines/${slug}`, { body });
    const timeouts = async () => {
      const { body } = await api.send("GET", `/pipelines/${slug}`);
      assert.equal(body.default_command_step_timeout, body.default_timeout_in_minutes);
      assert.equal(body.maximum_command_step_timeout, body.maximum_timeout_in_minutes);
      return [body.default_timeout_in_minutes, body.maximum_timeout_in_minutes];
    };

    assert.deepEqual(await timeouts(), [7, null]);
    await change({ maximum_command_step_timeout: 9 });
    assert.deepEqual(await timeouts(), [7, 9]);
    await change({ default_command_step_timeout: null });
    assert.deepEqual(await timeouts(), [null, 9]);
    const { status, body } = await change({ maximum_command_step_timeout: 0 });
    assert.deepEqual(
      [status, body.message],
      [422, "Validation failed: Maximum command step timeout must be a whole number from 1 to 525,600"],
    );
    assert.deepEqual(await timeouts(), [null, 9]);
  });
});
