import assert from "node:assert/strict";
import { it } from "node:test";
import { sampleMs } from "../../shared/dispatch/work-samples.ts";
import { agentTokenOf, openAgentApi, sendAsAgent, startAgent } from "../helpers/agent.ts";
import { describeWorld } from "../helpers/databases.ts";
import type { Answer } from "../helpers/http.ts";

const path = "/metrics";

describeWorld("GET /v3/metrics", openAgentApi, (api) => {
  const at = (address: string, given = api.agentToken): Promise<Answer> =>
    sendAsAgent(api.world.url, given, { method: "GET", path: address });
  /** Samples are of a cluster: a new one has none yet. */
  const newCluster = async () => {
    const { id, name } = await api.newCluster();
    const queue = await api.newQueue({ key: "linux" }, id);
    const registration = await agentTokenOf(api.world, { ...api.acme.cluster, id });
    const pipeline = (steps: object[]) => api.newPipeline({ cluster_id: id, steps });
    return { id, name, queue, registration, pipeline };
  };
  const onLinux = { command: "make", agents: { queue: "linux" } };

  it("counts jobs and agents of a cluster and of each of its queues", async () => {
    const { id, name, registration, pipeline } = await newCluster();
    await api.newQueue({ key: "mac" }, id);
    const { id: pipelineId } = await pipeline([onLinux, onLinux, "wait" as never, onLinux]);
    await api.build(pipelineId);
    const given = { meta_data: ["queue=linux"] };
    const busy = await startAgent(api.world.url, registration, given);
    await startAgent(api.world.url, registration, { ...given, name: "agent-2" });
    await busy.begin((await busy.offered()) ?? "");

    const { status, body, headers } = await at(path, registration);

    assert.equal(status, 200);
    const agents = { idle: 1, busy: 1, total: 2, capped: false };
    const jobs = { scheduled: 1, running: 1, waiting: 1, total: 3, capped: false };
    const none = {
      agents: { idle: 0, busy: 0, total: 0, capped: false },
      jobs: { scheduled: 0, running: 0, waiting: 0, total: 0, capped: false },
    };
    assert.deepEqual(body, {
      agents: { ...agents, queues: { linux: agents, mac: none.agents } },
      jobs: { ...jobs, queues: { linux: jobs, mac: none.jobs } },
      organization: { slug: "acme" },
      cluster: { name },
    });
    assert.equal(headers.get("buildkite-agent-metrics-poll-duration"), String(sampleMs / 1000));
    assert.deepEqual((await at(`${path}/queue?name=linux`, registration)).body, {
      agents,
      jobs,
      organization: { slug: "acme" },
      cluster: { name },
    });
  });

  it("counts jobs of a paused queue as waiting", async () => {
    const { id, queue, registration, pipeline } = await newCluster();
    await api.build((await pipeline([onLinux])).id);
    await api.send("POST", `/clusters/${id}/queues/${queue.id}/pause_dispatch`);

    const { body } = await at(`${path}/queue?name=linux`, registration);

    assert.deepEqual(body.jobs, { scheduled: 0, running: 0, waiting: 1, total: 1, capped: false });
  });

  it("answers from one sample, which other processes share", async () => {
    const { registration, pipeline } = await newCluster();
    const other = await api.world.another();
    const first = await at(path, registration);
    await api.build((await pipeline([onLinux])).id);

    const again = await at(path, registration);
    const there = await sendAsAgent(other.url, registration, { method: "GET", path });

    assert.equal(first.body.jobs.total, 0);
    assert.deepEqual(again.body, first.body);
    assert.deepEqual(there.body, first.body);
  });

  it("marks counts that stop at 1,000 of a queue", async () => {
    const { registration, pipeline } = await newCluster();
    const { id } = await pipeline(Array(4).fill({ ...onLinux, parallelism: 100 }));
    for (let builds = 0; builds < 3; builds++) await api.build(id);

    const { body } = await at(path, registration);

    assert.deepEqual(body.jobs.queues.linux, {
      scheduled: 1000,
      running: 0,
      waiting: 0,
      total: 1000,
      capped: true,
    });
    assert.equal(body.jobs.capped, true);
  });

  it("answers 404 for a queue that the cluster does not have", async () => {
    for (const name of ["none", "__proto__", ""]) {
      const { status, body } = await at(`${path}/queue?name=${name}`);
      assert.deepEqual([status, body.message], [404, "No queue found"]);
    }
  });

  it("answers 401 to anything but a registration token", async () => {
    assert.equal((await at(path, api.adminToken)).status, 401);
  });
});
