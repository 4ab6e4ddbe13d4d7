// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are texts of pipelines
import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { openAgentApi, startAgent } from "../helpers/agent.ts";
import { openSettling } from "../helpers/builds.ts";
import { describeWorld } from "../helpers/databases.ts";

describeWorld("jobs whose queue does not exist", openAgentApi, (api) => {
  let settling: ReturnType<typeof openSettling>;

  before(async () => {
    settling = openSettling(api.world.services);
  });
  after(() => settling.close());

  const make = async (steps: unknown[], env: Record<string, string> = {}) => {
    const { slug } = await api.newPipeline({ steps });
    const path = `/pipelines/${slug}/builds`;
    const { status, body } = await api.send("POST", path, { body: { env } });
    assert.equal(status, 201, JSON.stringify(body));
    const read = async () => {
      await settling.settle();
      return (await api.send("GET", `${path}/1`)).body;
    };
    const states = async () => {
      const { state, jobs } = await read();
      return { state, jobs: jobs.map((job: { state: string }) => job.state) };
    };
    const send = (action: string) => api.send("PUT", `${path}/1/${action}`, {});
    return { read, states, send };
  };
  const lacks = (name: string) => `The cluster had no queue ${name} when the job was made`;

  it("run where a variable of the build says", async () => {
    const { key } = await api.newQueue();
    const steps = [{ command: "a", agents: { queue: "${WHERE:-nowhere}", os: "linux" } }];
    const { read } = await make(steps, { WHERE: key });
    const { jobs } = await read();
    assert.equal(jobs[0].state, "scheduled");
    assert.deepEqual(jobs[0].agent_query_rules, [`queue=${key}`, "os=linux"]);
  });

  it("run where a variable of the document says, which names one of the build", async () => {
    const [own, other] = [await api.newQueue(), await api.newQueue()];
    const configuration = [
      `env: {WHERE: "\${WHERE:-${own.key}}", ALSO: $WHERE}`,
      "agents: {queue: $ALSO}",
      'steps: [{command: a}, {command: b, if: \'build.env("ALSO") == "x"\'}]',
    ].join("\n");
    const { slug } = await api.newPipeline({ steps: undefined, configuration });
    for (const [env, { id }] of [
      [{}, own],
      [{ WHERE: other.key }, other],
    ] as const) {
      const { body } = await api.send("POST", `/pipelines/${slug}/builds`, { body: { env } });
      assert.deepEqual(
        body.jobs.map((job: { state: string; cluster_queue_id: string }) => [
          job.state,
          job.cluster_queue_id,
        ]),
        [
          ["scheduled", id],
          ["broken", id],
        ],
      );
    }
  });

  it("run in the default queue if the variable is empty", async () => {
    const { read } = await make([{ command: "a", agents: { queue: "$NOTHING" } }]);
    const { jobs } = await read();
    assert.equal(jobs[0].state, "scheduled");
    assert.ok(jobs[0].cluster_queue_id);
  });

  it("fail with the reason, and the rest of the build goes on", async () => {
    const { key } = await api.newQueue();
    const { read, states } = await make(
      [
        { command: "lost", agents: { queue: "$WHERE" } },
        { command: "other", agents: { queue: key } },
        { command: "needs", depends_on: [{ step: "x" }], agents: { queue: key } },
        { command: "x", key: "x", agents: { queue: "no$WHERE" }, retry: { automatic: true } },
      ],
      { WHERE: "where" },
    );
    assert.deepEqual(await states(), {
      state: "failing",
      jobs: ["failed", "scheduled", "waiting_failed", "failed"],
    });
    const [lost, , , x] = (await read()).jobs;
    assert.equal(lost.failure_reason, lacks("where"));
    assert.equal(x.failure_reason, lacks("nowhere"));
    assert.deepEqual(lost.agent_query_rules, ["queue=where"]);
    assert.equal(lost.exit_status, null);

    await (await startAgent(api.world.url, api.agentToken, { meta_data: [`queue=${key}`] })).runOne(0);
    assert.equal((await states()).state, "failed");
  });

  it("fail once their turn comes", async () => {
    const { key } = await api.newQueue();
    const { states, read } = await make(
      [
        { command: "first", agents: { queue: key } },
        "wait",
        { command: "grouped", agents: { queue: "$W" }, concurrency: 1, concurrency_group: "g" },
        { command: "parallel", agents: { queue: "$W" }, parallelism: 2 },
      ],
      { W: "where" },
    );
    assert.deepEqual((await states()).jobs, ["scheduled", "waiting", "waiting", "waiting", "waiting"]);
    assert.equal((await read()).jobs[2].failure_reason, lacks("where"));

    await (await startAgent(api.world.url, api.agentToken, { meta_data: [`queue=${key}`] })).runOne(0);
    assert.deepEqual(await states(), {
      state: "failed",
      jobs: ["passed", "passed", "failed", "failed", "failed"],
    });
  });

  it("fail softly if their step says so", async () => {
    const { states, read } = await make([{ command: "a", soft_fail: true, agents: { queue: "x$NO" } }]);
    assert.deepEqual(await states(), { state: "passed", jobs: ["failed"] });
    assert.equal((await read()).jobs[0].soft_failed, true);
  });

  it("are retried by hand once the queue exists", async () => {
    const { states, read, send } = await make(
      [{ command: "a", agents: { queue: "$LATER" }, parallelism: 2 }],
      { LATER: "later" },
    );
    assert.deepEqual(await states(), { state: "failed", jobs: ["failed", "failed"] });
    const [first] = (await read()).jobs;
    const refused = await send(`jobs/${first.id}/retry`);
    assert.equal(refused.status, 422);
    assert.match(JSON.stringify(refused.body), /its cluster has no queue later/);

    await api.newQueue({ key: "later" });
    const { status, body } = await send(`jobs/${first.id}/retry`);
    assert.equal(status, 200);
    assert.deepEqual(body.agent_query_rules, ["queue=later"]);
    assert.equal(body.failure_reason, null);
    assert.deepEqual((await states()).state, "failing");
  });

  it("are refused when steps are stored, if no variable names the queue", async () => {
    const { status, body } = await api.send("POST", "/pipelines", {
      body: {
        name: "Refused",
        cluster_id: api.acme.cluster.id,
        steps: [
          { command: "a", agents: { queue: "$X" } },
          { command: "b", agents: { queue: "nope" } },
        ],
      },
    });
    assert.equal(status, 422);
    assert.match(JSON.stringify(body), /the queue nope, which/);
  });
});
