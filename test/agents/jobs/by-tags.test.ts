import assert from "node:assert/strict";
import { it } from "node:test";
import { secondMs } from "../../../shared/durations.ts";
import { openAgentApi, type ScriptedAgent, startAgent } from "../../helpers/agent.ts";
import { describeWorld } from "../../helpers/databases.ts";

describeWorld("jobs with tags", openAgentApi, (api) => {
  /** A queue, its agents, and builds with a step for each map of tags. */
  const setUp = async (settings: object = {}) => {
    const queue = await api.newQueue(settings);
    const agentOf = (tags: string[] = [], more: object = {}, url = api.world.url) =>
      startAgent(url, api.agentToken, { meta_data: [`queue=${queue.key}`, ...tags], ...more });
    const build = async (...tags: object[]) => {
      const steps = tags.map((agents) => ({ command: "make", agents: { queue: queue.key, ...agents } }));
      const pipeline = await api.newPipeline({ steps });
      await api.build(pipeline.id);
      const path = `/pipelines/${pipeline.slug}/builds/1`;
      const jobs = async () => (await api.send("GET", `${path}?include_retried_jobs=true`)).body.jobs;
      const retry = async (id: string) => {
        const { status, text } = await api.send("PUT", `${path}/jobs/${id}/retry`);
        assert.equal(status, 200, text);
      };
      return { jobs, retry, ids: (await jobs()).map(({ id }: { id: string }) => id) as string[] };
    };
    return { queue, agentOf, build };
  };

  it("go to an agent that has all of them", async () => {
    const { agentOf, build } = await setUp();
    const none = await agentOf();
    const some = await agentOf(["os=linux"]);
    const all = await agentOf(["os=linux", "gpu=a100", "more=1"]);
    const { ids } = await build({ os: "linux", gpu: "a100" });

    for (const agent of [none, some, none, some]) assert.equal(await agent.offered(), undefined);
    assert.equal(await all.offered(), ids[0]);
  });

  it("match whole values, case and all, and with * any value", async () => {
    const { agentOf, build } = await setUp();
    const agents = new Map<string, ScriptedAgent>();
    for (const tag of ["os=Linux", "os=linux2", "os=linux*", "osx=linux", "os=a=b"])
      agents.set(tag, await agentOf([tag]));
    const offered = async () => {
      const taken: string[] = [];
      for (const [tag, agent] of agents) if (await agent.offered()) taken.push(tag);
      return taken;
    };
    await build({ os: "linux" }, { os: "lin*" }, { os: "a" });
    assert.deepEqual(await offered(), []);

    await build({ os: "a=b" }, { os: "linux*" });
    assert.deepEqual(await offered(), ["os=linux*", "os=a=b"]);
    await build(...Array(4).fill({ os: "*" }));
    assert.deepEqual(await offered(), ["os=Linux", "os=linux2", "os=linux*", "os=a=b"]);
  });

  it("may have either value of a tag that an agent has twice, and two rules for one tag need both", async () => {
    const { agentOf, build, queue } = await setUp();
    const twice = await agentOf(["os=linux", "os=debian"]);
    const once = await agentOf(["os=linux"]);
    const { ids } = await build({ os: "debian" });
    assert.equal(await twice.runOne(), ids[0]);

    const steps = [{ command: "make", agents: [`queue=${queue.key}`, "os=linux", "os=debian"] }];
    const pipeline = await api.newPipeline({ steps });
    await api.build(pipeline.id);
    assert.equal(await once.offered(), undefined);
    assert.ok(await twice.offered());
  });

  it("leave jobs without tags to everybody, in the order of all", async () => {
    const { agentOf, build } = await setUp();
    const { ids } = await build({ os: "linux" }, {}, { os: "mac" }, {}, { os: "linux" });
    const [linux, plain] = [await agentOf(["os=linux"]), await agentOf()];

    for (const index of [0, 1]) assert.equal(await linux.runOne(), ids[index]);
    assert.equal(await plain.runOne(), ids[3]);
    assert.equal(await plain.runOne(), undefined);
    assert.equal(await linux.runOne(), ids[4]);
    assert.equal(await linux.runOne(), undefined);
  });

  it("are acquired by an agent without them", async () => {
    const { agentOf, build } = await setUp();
    const { ids } = await build({ os: "linux" });
    const agent = await agentOf();
    assert.equal((await agent.send("PUT", `/jobs/${ids[0]}/acquire`)).status, 200);
  });

  it("are not handed out by a paused queue, and are after its resume", async () => {
    const { queue, agentOf, build } = await setUp();
    const agent = await agentOf(["os=linux"]);
    await api.send("POST", `${api.queues}/${queue.id}/pause_dispatch`);
    const { ids } = await build({ os: "linux" });
    assert.equal(await agent.offered(), undefined);
    await api.send("POST", `${api.queues}/${queue.id}/resume_dispatch`);
    assert.equal(await agent.offered(), ids[0]);
  });

  it("are handed out by every process, and offered again by another", async () => {
    const { agentOf, build } = await setUp();
    const agent = await agentOf(["os=linux"]);
    const { ids } = await build({ os: "linux" });
    const other = await api.world.another();
    assert.equal(await agent.offered(), ids[0]);
    const headers = { Authorization: `Token ${agent.token}` };
    const again = await fetch(`${other.url}/v3/ping`, { headers });
    assert.equal(((await again.json()) as { job: { id: string } }).job.id, ids[0]);
  });

  it("of very many kinds are all handed out within some pings, also to agents that ping in turns", async () => {
    const { agentOf, build } = await setUp();
    const kinds = Array.from({ length: 120 }, (_, index) => `n${index}`);
    for (const some of [kinds.slice(0, 60), kinds.slice(60)])
      await build(...some.map((name) => ({ [name]: "1" })));
    const waiting = new Set(
      await Promise.all(
        kinds
          .slice(0, 120)
          .filter((_, index) => index % 30 === 0)
          .map((name) => agentOf([`${name}=1`])),
      ),
    );
    for (let round = 0; waiting.size > 0; round++) {
      assert.ok(round < 200, `${waiting.size} agents got no job`);
      for (const agent of waiting) if (await agent.offered()) waiting.delete(agent);
    }
  });

  it("prefer another agent for a retry only if it has them", async () => {
    const { agentOf, build } = await setUp({ retry_agent_affinity: "prefer-different" });
    const [own, plain] = [await agentOf(["gpu=1"]), await agentOf()];
    const { ids, retry, jobs } = await build({ gpu: "1" });
    await own.runOne(1);
    await retry(ids[0] as string);
    assert.equal(await plain.offered(), undefined);
    assert.ok(await own.runOne(1), "no other agent may take it");

    const another = await agentOf(["gpu=1"]);
    await retry((await jobs()).at(-1).id);
    assert.equal(await own.offered(), undefined);
    assert.ok(await another.offered());
  });

  it("prefer the agent that finished a job last only if it has them", async () => {
    const { agentOf, build } = await setUp();
    const [own, plain] = [await agentOf(["gpu=1"]), await agentOf()];
    const { ids, retry } = await build({ gpu: "1" }, {});
    await own.runOne(1);
    api.world.clock.advance(secondMs);
    await plain.runOne();
    await retry(ids[0] as string);
    assert.ok(await own.offered());
  });
});
