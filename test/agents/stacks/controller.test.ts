import assert from "node:assert/strict";
import { it } from "node:test";
import { openAgentApi, startAgent } from "../../helpers/agent.ts";
import { describeWorld } from "../../helpers/databases.ts";
import { PublicAgent, versions } from "../public-agent.ts";
import { StackClient } from "./stack-client.ts";

describeWorld("a controller that starts an agent for each job", openAgentApi, (api) => {
  const start = async (queueKey: string, key = "agent-stack-k8s") => {
    const client = new StackClient(api.world.url, api.agentToken);
    await client.identity();
    await client.register(key, queueKey);
    return client;
  };
  const idsOf = async (read: () => Promise<{ jobs: { id: string }[] }>) =>
    (await read()).jobs.map(({ id }) => id);
  /** An agent in a pod: it takes the job that it was started for, and nothing else. */
  const inPod = (queueKey: string) =>
    startAgent(api.world.url, api.agentToken, {
      meta_data: [`queue=${queueKey}`],
      ignore_in_dispatches: true,
    });

  it("starts, reserves, runs the job by its id, and reports", async () => {
    const { queue, read, states } = await api.buildOnQueue({
      key: "test",
      command: "echo hello",
      env: { A: "b" },
    });
    const identity = await api.world.services.db.select().from(api.world.services.db.tables.organizations);
    const client = await start(queue.key);
    assert.equal(client.stack?.cluster_queue_key, queue.key);

    const [job] = await client.poll();
    assert.ok(job);
    assert.deepEqual(job.agent_query_rules, [`queue=${queue.key}`]);
    assert.equal(job.step.key, "test");
    assert.equal(job.build.number, 1);
    assert.deepEqual(await client.reserve([job.id]), { reserved: [job.id], notReserved: [] });
    assert.deepEqual(await client.poll(), [], "it is reserved");
    assert.deepEqual(await client.states([job.id]), { [job.id]: "reserved" });
    assert.deepEqual(await states(), ["reserved"]);
    const { command, env } = await client.getJob(job.id);
    assert.equal(command, "echo hello");
    assert.equal(env.BUILDKITE_COMMAND, "echo hello");
    assert.equal(env.BUILDKITE_JOB_ID, job.id);
    assert.equal(env.BUILDKITE_ORGANIZATION_ID, identity[0]?.id);
    assert.equal(env.A, "b");
    assert.equal(env.BUILDKITE_AGENT_ID, undefined, "no agent has it");
    assert.deepEqual(await client.notify([{ job_uuid: job.id, detail: "Pod is starting" }]), []);

    const agent = await inPod(queue.key);
    assert.equal(await agent.offered(), undefined);
    const acquired = await agent.send("PUT", `/jobs/${job.id}/acquire`);
    assert.equal(acquired.status, 200, acquired.text);
    assert.deepEqual(await client.states([job.id]), { [job.id]: "assigned" });
    const given: Record<string, string> = acquired.body.env;
    const own = Object.keys(given).filter((name) => !name.startsWith("BUILDKITE_AGENT_"));
    assert.deepEqual(
      own.filter((name) => env[name] !== given[name]),
      [],
      "the stack reads what the agent gets",
    );
    const { token } = acquired.body;
    await agent.send("PUT", `/jobs/${job.id}/start`, { started_at: new Date().toISOString() }, token);
    assert.deepEqual(await client.states([job.id]), { [job.id]: "running" });
    assert.equal((await agent.finish(job.id, 0, token)).status, 200);
    assert.deepEqual(await states(), ["passed"]);
    assert.deepEqual(await client.states([job.id]), { [job.id]: "finished" });
    assert.equal((await read()).state, "passed");
    await client.deregister();
  });

  it("reads the settings of its plugin from a step that the server keeps", async () => {
    const podSpec = { containers: [{ image: "alpine" }] };
    const { queue } = await api.buildOnQueue({ plugins: [{ kubernetes: { podSpec } }, "docker#v5"] });
    const client = await start(queue.key);
    const [job] = await client.poll();
    assert.ok(job);

    const { env } = await client.getJob(job.id);

    const plugins: Record<string, unknown>[] = JSON.parse(env.BUILDKITE_PLUGINS ?? "");
    assert.deepEqual(plugins, [
      { "github.com/buildkite-plugins/kubernetes-buildkite-plugin": { podSpec } },
      { "github.com/buildkite-plugins/docker-buildkite-plugin#v5": null },
    ]);
    await client.deregister();
  });

  it("runs jobs by each version of the public agent that can acquire", async () => {
    for (const version of versions.filter(({ hasJobToken }) => hasJobToken)) {
      const { queue, states } = await api.buildOnQueue({});
      const client = await start(queue.key, `stack-${version.version}`);
      const [job] = await client.poll();
      assert.ok(job);
      await client.reserve([job.id]);
      const agent = new PublicAgent(api.world.url, version);
      await agent.start(api.agentToken, queue.key, { ignore_in_dispatches: true });
      const { status, body } = await agent.acquire(job.id);
      assert.equal(status, 200);
      await agent.run(body);
      assert.deepEqual(await states(), ["running"]);
      agent.close();
    }
  });

  it("reads jobs in the order of their scheduling, page by page, and starts over after the last", async () => {
    const { queue, read } = await api.buildOnQueue(...Array(7).fill({}));
    const ids = await idsOf(read);
    const client = await start(queue.key);

    const first = await client.poll({ limit: 3, pages: 1 });
    const rest = await client.poll({ limit: 3, pages: 5 });

    assert.deepEqual([...first, ...rest].map(({ id }) => id).sort(), ids.toSorted());
    const times = [...first, ...rest].map(({ scheduled_at, id }) => `${scheduled_at} ${id}`);
    assert.deepEqual(times, times.toSorted());
    assert.equal(client.cursor, "", "a job that comes back later is behind no cursor");
    await client.reserve(ids.slice(1));
    assert.deepEqual(
      (await client.poll({ limit: 3 })).map(({ id }) => id),
      [ids[0]],
    );
  });

  it("has the default queue by the words of clients", async () => {
    for (const word of ["__default__", "_default", "~", "-"]) {
      const client = await start(word, `for-${Buffer.from(word).toString("hex")}`);
      assert.equal(client.stack?.cluster_queue_key, api.acme.queue.key);
    }
  });

  it("fails a job whose pod cannot start, with the reason at the end of its log and on its page", async () => {
    const { queue, path, read } = await api.buildOnQueue({});
    const [id = ""] = await idsOf(read);
    const client = await start(queue.key);
    await client.reserve([id]);

    await client.finish(id, "ImagePullBackOff: no such image\nsecond line", -1);
    await client.finish(id, "ImagePullBackOff: no such image\nsecond line", -1);

    assert.deepEqual(await client.states([id]), { [id]: "finished" });
    const [job] = (await read()).jobs;
    assert.equal(job.state, "failed");
    assert.equal(job.exit_status, -1);
    assert.equal(job.signal_reason, "stack_error");
    assert.equal(job.failure_reason, "ImagePullBackOff: no such image\nsecond line");
    const log = await api.send("GET", `${path}/jobs/${id}/log.txt`);
    assert.match(log.text, /ImagePullBackOff: no such image\r\nsecond line\r\n$/);
    assert.equal((await read()).state, "failed");
  });

  it("passes a job that needed no agent", async () => {
    const { queue, states } = await api.buildOnQueue({});
    const client = await start(queue.key);
    const [job] = await client.poll();
    assert.ok(job);
    await client.finish(job.id, "Nothing to do", 0);
    assert.deepEqual(await states(), ["passed"]);
  });

  it("lets the rules of a step retry what it failed, by the documented reason", async () => {
    const rule = (limit: number) => ({
      retry: { automatic: [{ exit_status: -1, signal_reason: "stack_error", limit }] },
    });
    const { queue, states, read } = await api.buildOnQueue(rule(0), rule(1));
    const [never = "", once = ""] = await idsOf(read);
    const client = await start(queue.key);
    for (const id of [never, once]) await client.finish(id, "No room");
    assert.deepEqual(await states(), ["failed", "scheduled"], "without the one that was retried");
  });
});
