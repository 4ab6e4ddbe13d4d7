import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { it } from "node:test";
import { openAgentApi, type ScriptedAgent, startAgent } from "../../helpers/agent.ts";
import { pipelineBody } from "../../helpers/api.ts";
import { describeWorldOn, sqlite } from "../../helpers/databases.ts";

describeWorldOn(sqlite, "the checkout of a job", openAgentApi, (api) => {
  const repository = "https://git.example.com/site.git";
  const newAgent = async () => {
    const { key: queue } = await api.newQueue();
    const agent = await startAgent(api.world.url, api.agentToken, { meta_data: [`queue=${queue}`] });
    return { agent, step: { command: "make", agents: { queue } } };
  };
  const build = async (body: object) => {
    const { slug } = await api.newPipeline({ repository, ...body });
    await api.send("POST", `/pipelines/${slug}/builds`, { body: {} });
    return `/pipelines/${slug}`;
  };
  /** The variables of the next job, which goes on to run. */
  const begin = async (agent: ScriptedAgent) => {
    const id = (await agent.offered()) as string;
    const { env, token } = await agent.begin(id);
    const names = /^BUILDKITE_(?:GIT_|SKIP_)/;
    const variables = Object.fromEntries(Object.entries(env).filter(([name]) => names.test(name)));
    return { id, token, variables };
  };

  it("reaches all jobs of a step, and their retries", async () => {
    const { agent, step } = await newAgent();
    const path = await build({ steps: [{ ...step, parallelism: 2, checkout: { skip: true, depth: 2 } }] });
    const expected = {
      BUILDKITE_SKIP_CHECKOUT: "true",
      BUILDKITE_GIT_CLONE_FLAGS: "--depth=2",
      BUILDKITE_GIT_FETCH_FLAGS: "--depth=2",
    };

    for (const times of [1, 2]) {
      const { id, token, variables } = await begin(agent);
      assert.deepEqual(variables, expected, `${times}`);
      await agent.finish(id, 1, token);
      if (times === 2) await api.send("PUT", `${path}/builds/1/jobs/${id}/retry`);
    }

    assert.deepEqual((await begin(agent)).variables, expected);
  });

  it("is taken from YAML, where that of the document is the default", async () => {
    const { agent, step } = await newAgent();
    const configuration = `
checkout: { submodules: false, ssh_secret: KEY }
steps:
  - command: make
    agents: { queue: ${step.agents.queue} }
    checkout: { sparse: { paths: src/ } }
`;
    const path = await build({ steps: undefined, configuration });

    assert.deepEqual((await begin(agent)).variables, {
      BUILDKITE_GIT_SUBMODULES: "false",
      BUILDKITE_GIT_SPARSE_CHECKOUT_PATHS: "src/",
    });
    const { warnings } = (await api.send("GET", `${path}/builds/1`)).body;
    assert.deepEqual(warnings, [{ step: null, member: "checkout.ssh_secret" }]);
  });

  it("comes with an upload too, which names what it does not read", async () => {
    const { agent, step } = await newAgent();
    await build({ steps: [step] });
    const { id, token } = await begin(agent);
    const upload = (pipeline: object) =>
      agent.send("POST", `/jobs/${id}/pipelines`, { uuid: randomUUID(), pipeline }, token);

    const checkout = { lfs: true, mirror: true };
    const applied = await upload({ checkout: { depth: 1 }, steps: [{ ...step, label: "L", checkout }] });
    const wrong = await upload({ steps: [step, { ...step, checkout: { depth: "all" } }] });

    assert.deepEqual(applied.body.warnings, [{ step: "L", member: "checkout.mirror" }]);
    assert.equal(wrong.status, 422);
    assert.match(wrong.text, /steps\[1\]\.checkout\.depth: Step checkout\.depth must be a whole number/);
    await agent.finish(id, 0, token);
    assert.deepEqual((await begin(agent)).variables, {
      BUILDKITE_GIT_LFS_ENABLED: "true",
      BUILDKITE_GIT_CLONE_FLAGS: "--depth=1",
      BUILDKITE_GIT_FETCH_FLAGS: "--depth=1",
    });
  });

  it("is answered as it was sent, and refused by the name of its member", async () => {
    const body = pipelineBody(api.acme.cluster.id);
    const checkout = { flags: { clean: "-x", push: "-f" }, submodules: "true", mirror: true };
    const create = (given: unknown) =>
      api.send("POST", "/pipelines", {
        body: { ...body, steps: ["wait", { command: "make", checkout: given }] },
      });

    const wrong = await create({ skip: "perhaps" });
    const made = await create(checkout);

    assert.equal(wrong.status, 422);
    assert.match(wrong.text, /steps\[1\]\.checkout\.skip: Step checkout\.skip must be true or false/);
    assert.deepEqual(made.body.steps[1].checkout, { ...checkout, submodules: true });
  });

  it("has a resolved commit once a job has reported it", async () => {
    const { agent, step } = await newAgent();
    const commit = "0123456789abcdef0123456789abcdef01234567";
    const path = await build({ steps: [{ ...step, parallelism: 2 }] });
    const envOf = async (id: string) =>
      (await api.send("GET", `${path}/builds/1/jobs/${id}/env`)).body.env.BUILDKITE_COMMIT_RESOLVED;

    const { id, token } = await begin(agent);
    assert.equal(await envOf(id), undefined);
    const data = { key: "buildkite:git:commit", value: `commit ${commit}\n` };
    await agent.send("POST", `/jobs/${id}/data/set`, data, token);
    await agent.finish(id, 0, token);

    const next = (await agent.offered()) as string;
    const { env } = await agent.begin(next);
    assert.deepEqual([env.BUILDKITE_COMMIT, env.BUILDKITE_COMMIT_RESOLVED], [commit, "true"]);
    assert.equal(await envOf(next), "true");
  });

  it("is of a draft if the variables of the build say so, which conditions ask", async () => {
    const { agent, step } = await newAgent();
    const steps = [
      { ...step, command: "of a draft", if: "build.pull_request.draft" },
      { ...step, command: "of another", if: "!build.pull_request.draft" },
    ];
    const { slug } = await api.newPipeline({ steps });
    const env = { BUILDKITE_PULL_REQUEST: "7", BUILDKITE_PULL_REQUEST_DRAFT: "true" };
    await api.send("POST", `/pipelines/${slug}/builds`, { body: { env } });

    const { env: sent } = await agent.begin((await agent.offered()) as string);

    assert.deepEqual([sent.BUILDKITE_COMMAND, sent.BUILDKITE_PULL_REQUEST_DRAFT], ["of a draft", "true"]);
  });
});
