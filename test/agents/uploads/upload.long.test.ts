import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { it } from "node:test";
import type { Step } from "../../../shared/vocabulary.ts";
import { openAgentApi, type ScriptedAgent, sendAsAgent, startAgent } from "../../helpers/agent.ts";
import { describeWorld } from "../../helpers/databases.ts";

describeWorld("pipeline upload", openAgentApi, (api) => {
  /** A build on a queue of its own whose first job runs. */
  const setUp = async (...steps: (string | Partial<Step>)[]) => {
    const { key, id: queueId } = await api.newQueue();
    const on = (step: string | object) =>
      typeof step === "string" && step !== "wait" ? { command: step, agents: { queue: key } } : step;
    const pipeline = await api.newPipeline({
      steps: ["upload", ...steps].map((step) =>
        typeof step === "object" && !("type" in step) ? { agents: { queue: key }, ...step } : on(step),
      ),
    });
    await api.build(pipeline.id);
    const agent = await startAgent(api.world.url, api.agentToken, { meta_data: [`queue=${key}`] });
    const job = (await agent.offered()) as string;
    const { token } = await agent.begin(job);
    const send = (body: object, { path = "", by = token } = {}) =>
      sendAsAgent(api.world.url, by, { method: "POST", path: `/jobs/${job}/pipelines${path}`, body });
    const build = async () => (await api.send("GET", `/pipelines/${pipeline.slug}/builds/1`)).body;
    return {
      agent,
      token,
      job,
      key,
      queueId,
      build,
      send,
      upload: (uploaded: unknown, more: object = {}) =>
        send({ uuid: randomUUID(), pipeline: uploaded, ...more }),
      state: (uuid: string, by = token) =>
        sendAsAgent(api.world.url, by, { method: "GET", path: `/jobs/${job}/pipelines/${uuid}` }),
      /** The commands in order; a wait is `wait`. */
      commands: async () =>
        (await build()).jobs.map(
          (each: { command: string | null; state: string }) => `${each.command ?? "wait"} ${each.state}`,
        ),
      steps: (...commands: string[]) => commands.map(on),
    };
  };
  const runAll = async (agent: ScriptedAgent) => {
    while (await agent.runOne());
  };

  it("adds steps directly after the uploading step, and they run", async () => {
    const { agent, job, token, upload, commands, steps, build } = await setUp("second", "wait", "last");

    const answer = await upload({ steps: steps("a", "wait", "b") });

    assert.deepEqual([answer.status, answer.body], [200, { state: "applied", warnings: [] }]);
    assert.deepEqual(await commands(), [
      "upload running",
      "a waiting",
      "wait waiting",
      "b waiting",
      "second scheduled",
      "wait waiting",
      "last waiting",
    ]);
    await agent.finish(job, 0, token);
    await runAll(agent);
    assert.equal((await build()).state, "passed");
    assert.deepEqual(
      new Set((await build()).jobs.map((each: { state: string }) => each.state)),
      new Set(["passed"]),
    );
  });

  it("goes behind all parallel jobs of the uploading step", async () => {
    const { key } = await api.newQueue();
    const agents = { queue: key };
    const pipeline = await api.newPipeline({
      steps: [
        { command: "upload", agents, parallelism: 3 },
        { command: "last", agents },
      ],
    });
    await api.build(pipeline.id);
    const agent = await startAgent(api.world.url, api.agentToken, { meta_data: [`queue=${key}`] });
    const job = (await agent.offered()) as string;
    await agent.begin(job);

    const body = { uuid: randomUUID(), pipeline: { steps: [{ command: "a", agents }] } };
    assert.equal((await agent.send("POST", `/jobs/${job}/pipelines?async=true`, body)).status, 200);

    const { jobs } = (await api.send("GET", `/pipelines/${pipeline.slug}/builds/1`)).body;
    assert.deepEqual(
      jobs.map(({ command }: { command: string }) => command),
      ["upload", "upload", "upload", "a", "last"],
    );
  });

  it("gives its queue to the new jobs, and its variables to all jobs that have not started", async () => {
    const { key: other } = await api.newQueue();
    const { agent, job, token, key, upload, build } = await setUp("second");

    await upload({
      env: { A: 1, B: "all" },
      agents: { queue: key },
      steps: [
        { command: "a", env: { B: "own" } },
        { command: "b", agents: { queue: other } },
      ],
    });

    const rules = (await build()).jobs.map((each: { agent_query_rules: string[] }) => each.agent_query_rules);
    assert.deepEqual(rules, [[`queue=${key}`], [`queue=${key}`], [`queue=${other}`], [`queue=${key}`]]);
    await agent.finish(job, 0, token);
    const envs: Record<string, string>[] = [];
    for (let next = await agent.offered(); next; next = await agent.offered()) {
      const begun = await agent.begin(next);
      envs.push(begun.env);
      await agent.finish(next, 0, begun.token);
    }
    const seen = envs.map((env) => [env.BUILDKITE_COMMAND, env.A, env.B]).sort();
    assert.deepEqual(seen, [
      ["a", "1", "own"],
      ["second", "1", "all"],
    ]);
  });

  it("changes nothing when it comes again, also at the same time", async () => {
    const { send, state, steps, commands } = await setUp();
    const body = { uuid: randomUUID().toUpperCase(), pipeline: { steps: steps("a") } };
    assert.equal((await state(body.uuid)).status, 404);

    const answers = await Promise.all([send(body), send(body, { path: "?async=true" }), send(body)]);
    const again = await send({ ...body, pipeline: { steps: steps("other") }, replace: true });

    for (const { status, body } of [...answers, again])
      assert.deepEqual([status, body], [200, { state: "applied", warnings: [] }]);
    assert.deepEqual(await commands(), ["upload running", "a waiting"]);
    for (const uuid of [body.uuid, body.uuid.toLowerCase()])
      assert.deepEqual((await state(uuid)).body, { state: "applied" });
    for (const uuid of [randomUUID(), "x"]) assert.equal((await state(uuid)).status, 404);
  });

  it("adds those of simultaneous uploads one after the other", async () => {
    const { upload, steps, build } = await setUp("last");

    const answers = await Promise.all(["a", "b", "c", "d"].map((name) => upload(steps(name, `${name}2`))));

    for (const { status } of answers) assert.equal(status, 200);
    const commands = (await build()).jobs.map((each: { command: string }) => each.command);
    assert.deepEqual([commands.length, commands.at(0), commands.at(-1)], [10, "upload", "last"]);
    for (const name of ["a", "b", "c", "d"])
      assert.equal(commands.indexOf(`${name}2`), commands.indexOf(name) + 1);
  });

  it("replaces the jobs that have not started, and the build passes without them", async () => {
    const { agent, job, token, upload, steps, commands, build } = await setUp("second", "wait", "last");

    await upload({ steps: steps("a") }, { replace: true });

    assert.deepEqual(await commands(), [
      "upload running",
      "a waiting",
      "second canceled",
      "wait canceled",
      "last canceled",
    ]);
    await agent.finish(job, 0, token);
    await runAll(agent);
    assert.equal((await build()).state, "passed");
  });

  it("replaces no job that an agent has accepted, but one that it was only offered", async () => {
    const { key, upload, steps, commands } = await setUp("accepted", "offered");
    const others = await Promise.all(
      [1, 2].map(() => startAgent(api.world.url, api.agentToken, { meta_data: [`queue=${key}`] })),
    );
    const [first, second] = others as [ScriptedAgent, ScriptedAgent];
    await first.begin((await first.offered()) as string);
    assert.ok(await second.offered());

    await upload({ steps: steps("a") }, { replace: true });

    assert.deepEqual(await commands(), [
      "upload running",
      "a waiting",
      "accepted running",
      "offered canceled",
    ]);
  });

  it("is refused as a whole with every reason", async () => {
    const { upload, send, steps, commands } = await setUp();
    const refused = async (answer: Promise<{ status: number; body: unknown }>, message: string) => {
      const { status, body } = await answer;
      assert.deepEqual([status, body], [422, { message }]);
    };

    await refused(
      upload({ steps: [...steps("a"), { command: [{}] }, { trigger: {} }] }),
      "steps[1].command[0]: Step command must be text, steps[2].trigger: Step trigger can't be blank",
    );
    await refused(
      upload({ steps: [...steps("a"), { command: "b", if: "x" }] }),
      "steps[1].if: Unknown name x: put texts in quotes; names begin with build, pipeline, organization, at line 1, column 1",
    );
    await refused(
      upload({ steps: [{ command: "a", agents: { queue: "nope" } }] }),
      "Steps name the queue nope, which the cluster does not have",
    );
    await refused(send({ uuid: "x", pipeline: { steps: steps("a") } }), "uuid must be a UUID");
    await refused(send({ pipeline: { steps: steps("a") } }), "uuid must be text");
    await refused(upload({ steps: steps("a") }, { replace: "yes" }), "replace must be true or false");
    await refused(upload({ steps: Array(501).fill({ command: "a" }) }), "Steps can be 500 at most");

    assert.deepEqual(await commands(), ["upload running"]);
  });

  it("has at most 500 steps and 1 MB, and a build 2,000 jobs", async () => {
    const { upload, steps, build } = await setUp();
    const [step] = steps("a") as [object];

    assert.equal((await upload({ steps: Array(500).fill(step) })).status, 200);
    const wide = { ...step, parallelism: 100 };
    assert.equal((await upload({ steps: Array(14).fill(wide) })).status, 200);
    const { status, body } = await upload({ steps: [wide] });
    assert.equal(status, 422);
    assert.equal(body.message, "The build would have 2001 jobs (maximum is 2000)");
    assert.equal((await upload({ steps: Array(99).fill(step) })).status, 200);
    assert.equal((await build()).jobs.length, 2000);
    const large = Array(17).fill({ ...step, command: "x".repeat(64_000) });
    assert.equal((await upload({ steps: large })).status, 413);
  });

  it("adds at most 16 MB to a build", async () => {
    const { upload, steps, build } = await setUp();
    const [step] = steps("a") as [object];
    const large = { ...step, command: "x".repeat(65_000), parallelism: 100 };

    assert.equal((await upload({ steps: [large, large] })).status, 200);
    const { status, body } = await upload({ steps: [large] });

    assert.deepEqual(
      [status, body],
      [422, { message: "The steps of the build's jobs would be larger than 16 MB" }],
    );
    assert.equal((await upload({ steps: [step] })).status, 200);
    assert.equal((await build()).jobs.length, 202);
  });

  it("is answered 429 when a job uploads more than 60 times in a minute", async () => {
    const { send, steps } = await setUp();
    const body = { uuid: randomUUID(), pipeline: { steps: steps("a") } };

    for (let sent = 0; sent < 60; sent++) assert.equal((await send(body)).status, 200);
    const refused = await send(body);

    assert.equal(refused.status, 429);
    assert.match(
      refused.body.message,
      /^The job makes too many pipeline uploads\. Please wait \d+ seconds\.$/,
    );
    assert.ok(Number(refused.headers.get("retry-after")) >= 1);
    const other = await setUp();
    assert.equal((await other.upload(other.steps("a"))).status, 200);
  });

  it("is a running job's alone", async () => {
    const { agent, job, token, upload, send, state, steps, commands } = await setUp("second");
    const one = { uuid: randomUUID(), pipeline: { steps: steps("a") } };

    const other = await setUp();
    assert.equal((await send(one, { by: other.token })).status, 404);
    assert.equal((await send(one, { by: api.agentToken })).status, 401);
    assert.equal((await state(one.uuid, api.agentToken)).status, 401);
    assert.equal((await send(one, { by: agent.token })).status, 200);
    assert.equal((await state(one.uuid, other.token)).status, 404);
    await agent.finish(job, 0, token);
    assert.ok([401, 404].includes((await upload({ steps: steps("b") })).status));

    const next = (await agent.offered()) as string;
    const accepted = await agent.send("PUT", `/jobs/${next}/accept`);
    const early = await agent.send(
      "POST",
      `/jobs/${next}/pipelines`,
      { uuid: randomUUID(), pipeline: { steps: steps("c") } },
      accepted.body.token,
    );
    assert.deepEqual([early.status, early.body], [422, { message: "Only a running job can upload steps" }]);
    assert.equal((await commands()).length, 3);
  });
});
