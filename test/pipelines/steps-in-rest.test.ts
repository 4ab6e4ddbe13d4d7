import assert from "node:assert/strict";
import { it } from "node:test";
import { openApi, unique } from "../helpers/api.ts";
import { describeWorldOn, sqlite } from "../helpers/databases.ts";

/** A step of each kind, as the documentation of the hosted service sends it, and its answer. */
const documented: [sent: object, answered: object][] = [
  [
    {
      type: "script",
      name: "Release",
      command: "make",
      artifact_paths: "log/*",
      branch_configuration: "main feature/*",
      env: { A: "1" },
      timeout_in_minutes: 10,
      agent_query_rules: ["queue=default", "os=linux", "gpu"],
    },
    {
      type: "script",
      name: "Release",
      label: "Release",
      command: "make",
      artifact_paths: "log/*",
      branch_configuration: "main feature/*",
      branches: "main feature/*",
      env: { A: "1" },
      timeout_in_minutes: 10,
      agent_query_rules: ["queue=default", "gpu", "os=linux"],
      agents: { queue: "default", os: "linux", gpu: "*" },
      concurrency: null,
      parallelism: null,
    },
  ],
  [
    { command: "make" },
    {
      type: "script",
      name: null,
      command: "make",
      artifact_paths: null,
      branch_configuration: null,
      env: {},
      timeout_in_minutes: null,
      agent_query_rules: [],
      concurrency: null,
      parallelism: null,
    },
  ],
  [{ type: "waiter" }, { type: "waiter" }],
  [
    { type: "manual", label: "Deploy", branch_configuration: "main" },
    { type: "manual", label: "Deploy", branches: "main", branch_configuration: "main" },
  ],
  [
    { input: "Name?", fields: [{ text: "T", key: "t" }] },
    { type: "input", label: "Name?", fields: [{ key: "t", text: "T" }] },
  ],
  [
    {
      type: "trigger",
      label: "Deploy",
      trigger_project_slug: "deploy",
      trigger_commit: "HEAD",
      trigger_branch: "main",
      trigger_async: true,
    },
    {
      type: "trigger",
      label: "Deploy",
      trigger: "deploy",
      pipeline: "deploy",
      build: { message: null, commit: "HEAD", branch: "main", env: null },
      async: true,
      branch_configuration: null,
      concurrency: null,
      parallelism: null,
    },
  ],
  [
    { type: "group", label: "G", steps: [{ type: "waiter" }] },
    { type: "group", label: "G", steps: [{ type: "waiter" }] },
  ],
];

describeWorldOn(sqlite, "the steps of a pipeline in REST", openApi, (api) => {
  const create = (body: object) =>
    api.send("POST", "/pipelines", {
      body: { name: unique("Steps"), cluster_id: api.acme.cluster.id, ...body },
    });
  const update = (slug: string, body: object) => api.send("PATCH", `/pipelines/${slug}`, { body });
  const read = async (slug: string) => (await api.send("GET", `/pipelines/${slug}`)).body;
  /** Sends back what was answered, with changes of the first step. */
  const change = async (slug: string, members: object) => {
    const { steps, ...others } = await read(slug);
    return update(slug, { ...others, steps: [{ ...steps[0], ...members }, ...steps.slice(1)] });
  };

  it("are read and answered as documented, of each kind", async () => {
    const { status, body, text } = await create({ steps: documented.map(([sent]) => sent) });

    assert.equal(status, 201, text);
    assert.deepEqual(
      body.steps,
      documented.map(([, answered]) => answered),
    );
    assert.deepEqual((await read(body.slug)).steps, body.steps);
  });

  it("can be sent back with the whole pipeline, and to a new one", async () => {
    const { body } = await create({ steps: documented.map(([sent]) => sent) });

    const same = await update(body.slug, body);
    const copy = await create({ ...body, name: unique("Copy"), slug: unique("copy"), env: {} });

    assert.deepEqual([same.status, same.body], [200, body]);
    assert.deepEqual([copy.status, copy.body.steps], [201, body.steps]);
  });

  it("follow the name that changes, and the other stays as it was answered", async () => {
    for (const [members, expected] of [
      [{ name: "N" }, { label: "N", name: "N" }],
      [{ label: "L" }, { label: "L", name: "L" }],
      [{ label: null }, { name: null }],
      [{ agents: { os: "mac" } }, { agents: { os: "mac" }, agent_query_rules: ["os=mac"] }],
      [{ agent_query_rules: [] }, { agent_query_rules: [] }],
      [{ agent_query_rules: ["a=b"] }, { agents: { a: "b" }, agent_query_rules: ["a=b"] }],
      [{ branches: "x" }, { branches: "x", branch_configuration: "x" }],
      [{ branch_configuration: "y" }, { branches: "y", branch_configuration: "y" }],
      [{ branch_configuration: null }, { branch_configuration: null }],
      [
        { name: "B", label: "B" },
        { name: "B", label: "B" },
      ],
    ]) {
      const { slug, steps } = (await create({ steps: [documented[0]?.[0], { type: "waiter" }] })).body;
      const { body, text } = await change(slug, members as object);

      const { label, agents, branches, name, agent_query_rules, branch_configuration, ...others } = steps[0];
      const former = { label, agents, branches, name, agent_query_rules, branch_configuration };
      for (const key of Object.keys(members as object)) {
        const pair = [
          ["label", "name"],
          ["agents", "agent_query_rules"],
          ["branches", "branch_configuration"],
        ];
        for (const each of pair.find((names) => names.includes(key)) ?? [])
          delete former[each as keyof typeof former];
      }
      assert.deepEqual(body.steps?.[0], { ...others, ...former, ...expected }, text);
    }
    const { slug } = (await create({ steps: [{ trigger: "a" }] })).body;
    assert.equal((await change(slug, { pipeline: "b" })).body.steps[0].trigger, "b");
    assert.equal((await change(slug, { trigger: "c" })).body.steps[0].pipeline, "c");
  });

  it("follow the name that changes in groups, and of a step that has moved with its key", async () => {
    const steps = [
      { group: "G", steps: [{ command: "a", label: "A" }] },
      { command: "b", key: "b", name: "B" },
    ];
    const { body } = await create({ steps });
    const [group, keyed] = body.steps;
    const inner = [{ ...group.steps[0], name: "New" }];

    const renamed = [
      { ...group, steps: inner },
      { ...keyed, name: "B2" },
    ];
    const inPlace = await update(body.slug, { steps: renamed });
    assert.equal(inPlace.status, 200, inPlace.text);
    const [newGroup, newKeyed] = inPlace.body.steps;
    const moved = await update(body.slug, { steps: [{ ...newKeyed, name: "B3" }, newGroup] });

    assert.deepEqual([newGroup.steps[0].label, newKeyed.label], ["New", "B2"]);
    assert.deepEqual([moved.body.steps[0].label, moved.body.steps[1]], ["B3", newGroup], moved.text);
  });

  it("are refused with both names of a member if both are new, and differ", async () => {
    const { slug } = (await create({ steps: [{ command: "a", name: "A" }] })).body;
    for (const [members, names] of [
      [{ label: "B", name: "C" }, "label and name"],
      [{ agents: { os: "mac" }, agent_query_rules: ["os=linux"] }, "agents and agent_query_rules"],
      [{ branches: "a", branch_configuration: "b" }, "branches and branch_configuration"],
    ] as const) {
      const message = `Validation failed: steps[0]: ${names} differ: give one of them`;
      for (const { status, body } of [
        await change(slug, members),
        await create({ steps: [{ command: "a", ...members }] }),
      ])
        assert.deepEqual([status, body.message], [422, message]);
    }
    const wrong = await change(slug, { label: ["B"], name: "C" });
    assert.deepEqual([wrong.status, wrong.body.message], [422, "Validation failed: Step label must be text"]);
  });

  it("stand beside YAML: the one that changes counts", async () => {
    const { body } = await create({ configuration: "steps: [{command: a}]" });
    const configuration = "steps: [{command: b}]";

    const renamed = await update(body.slug, { ...body, name: "Renamed" });
    const byYaml = await update(body.slug, { ...body, configuration });
    const bySteps = await update(body.slug, { ...byYaml.body, steps: [{ command: "c" }] });

    assert.deepEqual([renamed.body.name, renamed.body.configuration], ["Renamed", body.configuration]);
    assert.deepEqual([byYaml.body.configuration, byYaml.body.steps[0].command], [configuration, "b"]);
    assert.deepEqual([bySteps.body.configuration, bySteps.body.steps[0].command], [null, "c"]);
    const both = await update(body.slug, { ...bySteps.body, configuration, steps: [] });
    assert.equal(both.status, 422, both.text);
  });

  it("are left out on branches that branch_configuration leaves out", async () => {
    const steps = [{ command: "a", branch_configuration: "main" }, { command: "b" }];
    const { slug } = (await create({ steps })).body;

    const built = await api.send("POST", `/pipelines/${slug}/builds`, { body: { branch: "other" } });

    const states = built.body.jobs.map(({ state, broken_reason }: Record<string, string>) => [
      state,
      broken_reason,
    ]);
    assert.deepEqual(states[0], ["broken", "branch_mismatch"]);
    assert.equal(built.body.jobs.length, 2);
  });
});
