import assert from "node:assert/strict";
import { it } from "node:test";
import { presentSteps } from "../../shared/presenters/readable-step.ts";
import type { Step } from "../../shared/vocabulary.ts";
import { agentTokenOf, startAgent } from "../helpers/agent.ts";
import { openApi, unique } from "../helpers/api.ts";
import { describeWorldOn, sqlite } from "../helpers/databases.ts";

const yaml = `# Why we do this
env:
  COLOUR: red
  SHAPE: 1
notify:
  - slack: "#builds"
steps:
  - label: Test # quickly
    command: make test
    env: { SHAPE: round }
    if: build.env("COLOUR") == "red"
  - wait
  - command: make deploy
`;

describeWorldOn(sqlite, "the configuration of a pipeline", openApi, (api) => {
  const create = (body: object) =>
    api.send("POST", "/pipelines", {
      body: { name: unique("YAML"), cluster_id: api.acme.cluster.id, ...body },
    });
  const update = (slug: string, body: object) => api.send("PATCH", `/pipelines/${slug}`, { body });
  const read = async (slug: string) => (await api.send("GET", `/pipelines/${slug}`)).body;

  it("is kept as it is written, beside the steps that it says", async () => {
    const { status, body, text } = await create({ configuration: yaml });

    assert.equal(status, 201, text);
    assert.equal(body.configuration, yaml);
    const stored: Step[] = [
      {
        label: "Test",
        command: "make test",
        env: { SHAPE: "round" },
        if: 'build.env("COLOUR") == "red"',
      },
      { type: "wait" },
      { command: "make deploy" },
    ];
    assert.deepEqual(body.steps, presentSteps(stored));
    assert.deepEqual(await read(body.slug), body);
  });

  it("goes when steps are given, and comes back", async () => {
    const { slug } = (await create({ configuration: yaml })).body;

    const bySteps = await update(slug, { steps: [{ command: "a" }], configuration: null });
    const renamed = await update(slug, { name: unique("Renamed"), configuration: null });
    const byYaml = await update(slug, { configuration: "steps: [{command: b}]" });
    const untouched = await update(slug, { description: "text" });

    assert.deepEqual(
      [bySteps.body.configuration, bySteps.body.steps],
      [null, presentSteps([{ command: "a" }])],
    );
    assert.deepEqual(
      [renamed.body.configuration, renamed.body.steps],
      [null, presentSteps([{ command: "a" }])],
    );
    for (const { body } of [byYaml, untouched])
      assert.deepEqual(
        [body.configuration, body.steps],
        ["steps: [{command: b}]", presentSteps([{ command: "b" }])],
      );
  });

  it("is refused beside steps, and with the line and column of what is wrong", async () => {
    const { slug } = await api.newPipeline();
    for (const [body, message] of [
      [
        { steps: [{ command: "a" }], configuration: yaml },
        "Configuration cannot be given together with steps",
      ],
      [{ configuration: 7 }, "Configuration must be text"],
      [
        { configuration: "steps:\n  - command: a\n  - command: b\n    parallelism: -1\n" },
        "configuration: line 4, column 5: steps[1].parallelism: Step parallelism must be a whole number from 0 to 100",
      ],
    ] as const)
      for (const { status, body: answer } of [await create(body), await update(slug, body)])
        assert.deepEqual([status, answer], [422, { message: `Validation failed: ${message}` }]);
    const { body: none } = await create({ configuration: " ", name: "" });
    assert.equal(none.message, "Validation failed: Name can't be blank, Steps can't be blank");
  });

  it("gives its variables to conditions and jobs, over those of the build, and its warnings to builds", async () => {
    const { key } = await api.newQueue();
    const { slug } = (await create({ configuration: `agents: { queue: ${key} }\n${yaml}` })).body;
    const env = { COLOUR: "blue", SIZE: "large" };

    const { body: build } = await api.send("POST", `/pipelines/${slug}/builds`, { body: { env } });

    assert.deepEqual(
      build.jobs.map(({ state }: { state: string }) => state),
      ["scheduled", "waiting", "waiting"],
    );
    const reason = "The organization has no notification service for Slack";
    assert.deepEqual(build.warnings, [{ step: null, member: "notify", reason }]);
    const registration = await agentTokenOf(api.world, api.acme.cluster);
    const agent = await startAgent(api.world.url, registration, { meta_data: [`queue=${key}`] });
    const waiting = await api.send("GET", `/pipelines/${slug}/builds/1/jobs/${build.jobs[2].id}/env`);
    const job = await agent.begin((await agent.offered()) as string);
    for (const [given, shape] of [
      [job.env, "round"],
      [waiting.body.env, "1"],
    ])
      assert.deepEqual([given.COLOUR, given.SHAPE, given.SIZE], ["red", shape, "large"]);
    const rebuilt = (await api.send("PUT", `/pipelines/${slug}/builds/1/rebuild`)).body;
    assert.equal(rebuilt.jobs[0].state, "scheduled");
  });

  it("is not_run without steps", async () => {
    const { slug } = (await create({ configuration: "steps: []" })).body;
    assert.equal((await api.send("POST", `/pipelines/${slug}/builds`)).body.state, "not_run");
  });
});
