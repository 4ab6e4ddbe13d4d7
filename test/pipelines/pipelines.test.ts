import assert from "node:assert/strict";
import { it } from "node:test";
import { createCluster } from "../../shared/clusters/clusters.ts";
import { presentSteps } from "../../shared/presenters/readable-step.ts";
import type { Step } from "../../shared/vocabulary.ts";
import {
  base,
  graphqlId,
  linkHeader,
  openApi,
  pipelineBody,
  timestamp,
  unique,
  unknownId,
  webBase,
} from "../helpers/api.ts";
import { describeWorld } from "../helpers/databases.ts";
import { request } from "../helpers/http.ts";
import { setUpOrganization } from "../helpers/organization.ts";

describeWorld("pipelines", openApi, (api) => {
  const create = (more: object = {}) =>
    api.send("POST", "/pipelines", { body: { ...pipelineBody(api.acme.cluster.id), ...more } });
  const update = (slug: string, body: unknown, method = "PATCH") =>
    api.send(method, `/pipelines/${slug}`, { body });
  const read = async (slug: string) => (await api.send("GET", `/pipelines/${slug}`)).body;
  const invalid = async (answer: ReturnType<typeof create>, ...reasons: string[]) => {
    const { status, body } = await answer;
    assert.deepEqual([status, body], [422, { message: `Validation failed: ${reasons.join(", ")}` }]);
  };
  const noDefault = "Steps must name a queue, because the cluster has no default queue";

  it("POST creates a pipeline with every member", async () => {
    const { key } = await api.newQueue();
    const steps = [
      { command: "make" },
      { label: "Test", command: "make test", agents: { queue: key } },
      { command: "x", agents: {} },
    ];
    const unknown = steps.map((step) => ({ ...step, unknown: null }));
    const { status, body } = await create({ name: "My App (web)", steps: unknown, unknown: 1, id: "x" });

    const { id, created_at, created_by, ...rest } = body;
    assert.equal(status, 201);
    assert.match(created_at, timestamp);
    assert.equal(created_by.id, api.admin.id);
    assert.deepEqual(rest, {
      graphql_id: graphqlId("Pipeline", id),
      url: `${base}/pipelines/my-app-web`,
      web_url: `${webBase}/pipelines/my-app-web`,
      name: "My App (web)",
      slug: "my-app-web",
      description: null,
      cluster_id: api.acme.cluster.id,
      default_branch: "main",
      repository: null,
      provider: { id: "private", webhook_url: "", settings: {} },
      skip_queued_branch_builds: false,
      skip_queued_branch_builds_filter: null,
      cancel_running_branch_builds: false,
      cancel_running_branch_builds_filter: null,
      default_timeout_in_minutes: null,
      maximum_timeout_in_minutes: null,
      default_command_step_timeout: null,
      maximum_command_step_timeout: null,
      branch_configuration: null,
      allow_rebuilds: true,
      clone_mirror_url: null,
      tags: null,
      emoji: null,
      color: null,
      visibility: "private",
      pipeline_template_uuid: null,
      builds_url: `${base}/pipelines/my-app-web/builds`,
      badge_url: `${new URL(webBase).origin}/badges/${id}.svg`,
      env: {},
      configuration: null,
      steps: presentSteps(steps),
      scheduled_builds_count: 0,
      running_builds_count: 0,
      scheduled_jobs_count: 0,
      running_jobs_count: 0,
      waiting_jobs_count: 0,
      archived_at: null,
    });
    assert.deepEqual(await read("my-app-web"), body);
  });

  it("treats null and blank text as absent", async () => {
    for (const none of [null, "", " "]) {
      const name = unique("Of None");
      const of = { name, slug: none, default_branch: none };
      const steps = [
        { command: "a", label: none, name: none, agents: null, agent_query_rules: null },
        { command: "b", agents: { queue: none } },
      ];
      const { status, body } = await create({ ...of, steps });

      const slug = name.toLowerCase().replaceAll(" ", "-");
      assert.deepEqual([status, body.slug, body.default_branch], [201, slug, "main"]);
      assert.deepEqual(body.steps, presentSteps([{ command: "a" }, { command: "b", agents: {} }]));
    }
  });

  it("takes the name and the queue of a step as the public Go client sends them", async () => {
    const { key } = await api.newQueue();
    const sent = { type: "script", command: "a", artifact_paths: "", branch_configuration: "", env: null };
    const steps = [
      { ...sent, name: "Test", agent_query_rules: [`queue=${key}`], timeout_in_minutes: 0 },
      { ...sent, name: "Other", agent_query_rules: [] },
      { command: "b", agents: { queue: key }, agent_query_rules: [`queue=${key}`, "queue="] },
    ];

    const { status, body } = await create({ steps });

    assert.equal(status, 201);
    const stored = [
      { command: "a", label: "Test", agents: { queue: key } },
      { command: "a", label: "Other" },
      { command: "b", agents: { queue: key } },
    ];
    assert.deepEqual(body.steps, presentSteps(stored));
    assert.deepEqual((await update(body.slug, { steps })).body.steps, body.steps);
    for (const rule of ["os=linux", "default", "QUEUE=default"]) {
      const { body } = await create({ steps: [{ command: "a", agent_query_rules: [rule] }] });
      const [name = "", value = "*"] = rule.split("=");
      assert.deepEqual(body.steps, presentSteps([{ command: "a", agents: { [name]: value } }]));
    }
    for (const agent_query_rules of [7, [1], {}]) {
      const notRules = "Step agent_query_rules must be a list such as queue=default";
      await invalid(create({ steps: [{ command: "a", agent_query_rules }] }), notRules);
    }
    const two = { command: "a", agents: { queue: "default" }, agent_query_rules: [`queue=${key}`] };
    const differ = "steps[0]: agents and agent_query_rules differ: give one of them";
    await invalid(create({ steps: [two] }), differ);
    const nowhere = { command: "a", agent_query_rules: ["queue=nope"] };
    await invalid(create({ steps: [nowhere] }), "Steps name the queue nope, which the cluster does not have");
  });

  it("have a repository and variables, which are stored sealed", async () => {
    const repository = "git@example.com:site.git";
    const made = await create({ repository: ` ${repository}`, env: { COLOUR: "deep red" } });
    assert.deepEqual(
      [made.status, made.body.repository, made.body.env],
      [201, repository, { COLOUR: "deep red" }],
    );
    const { slug } = made.body;
    assert.deepEqual(await read(slug), made.body);
    const { services } = api.world;
    const row = async () => {
      const { pipelines } = services.db.tables;
      const rows = await services.db.select().from(pipelines);
      return rows.find(({ id }) => id === made.body.id) ?? assert.fail();
    };
    assert.match((await row()).environmentSealed ?? "", /^v2\./);
    assert.ok(!JSON.stringify(await row()).includes("deep red"));

    const kept = await update(slug, { name: unique("New"), env: null });
    assert.deepEqual([kept.body.repository, kept.body.env], [repository, { COLOUR: "deep red" }]);
    const changed = await update(slug, { repository: "/srv/git/site.git", env: { B: "" } });
    assert.deepEqual([changed.body.repository, changed.body.env], ["/srv/git/site.git", { B: "" }]);
    await update(slug, { env: {} });
    assert.equal((await row()).environmentSealed, null);
  });

  it("refuse a repository and variables that agents cannot use", async () => {
    const { slug } = await api.newPipeline();
    const address = "Repository must be an address, without control characters";
    for (const [body, reason] of [
      [{ repository: "--upload-pack=x" }, address],
      [{ repository: "a\nb" }, address],
      [{ repository: "ext::sh -c id" }, "Repository must be an address of https or ssh"],
      [{ repository: " FILE:///etc" }, "Repository must be an address of https or ssh"],
      [{ env: [] }, "Env must be an object of names and text"],
      [{ env: { A: 1 } }, "Env variable A must be text, not a number"],
      [{ env: { "1A": "" } }, "Env names must be letters, digits and _, not starting with a digit"],
      [
        { env: { SIGNALBOX: "" } },
        "Env names cannot be SIGNALBOX or start with SIGNALBOX_, which every build sets itself",
      ],
      [{ env: { A: "a".repeat(65_537) } }, "Env values are larger than 64 KB in all"],
    ] as [object, string][]) {
      await invalid(create(body), reason);
      await invalid(update(slug, body), reason);
    }
    await invalid(update(slug, { name: null, slug: [] }), "Name can't be blank");
  });

  it("GET …/pipelines?name= finds a part of the names, in any case", async () => {
    const [first, second] = [unique("Deploy 100%_\\ One"), unique("deploy 100 Ärger")];
    for (const name of [first, second]) await create({ name, slug: unique("found") });
    const found = async (name: string) => {
      const { status, body } = await api.send(
        "GET",
        `/pipelines?per_page=100&name=${encodeURIComponent(name)}`,
      );
      assert.equal(status, 200);
      return body.map((pipeline: { name: string }) => pipeline.name);
    };

    assert.deepEqual(await found("DEPLOY 100"), [first, second]);
    assert.deepEqual(await found("100%_\\ o"), [first]);
    assert.deepEqual(await found("Ärg"), [second]);
    for (const name of ["%", "_\\", "nope", "a\0b", "d".repeat(200)])
      assert.deepEqual(await found(name), name === "%" || name === "_\\" ? [first] : [], name);
    assert.ok((await found("")).length > 2);
    const { headers } = await api.send("GET", "/pipelines?name=deploy+100&per_page=1");
    assert.match(headers.get("link") ?? "", /name=deploy\+100[^>]*>; rel="next"/);
  });

  it("keeps what null stands for", async () => {
    const steps = [
      { command: "a", label: null, agents: null },
      { command: "b", agents: { queue: null } },
    ];
    const { body } = await create({ name: "Of Nulls", slug: null, default_branch: null, steps });

    assert.deepEqual(await read("of-nulls"), body);
    const changed = await update("of-nulls", { default_branch: "trunk", steps });
    assert.deepEqual([changed.status, changed.body], [200, { ...body, default_branch: "trunk" }]);
    for (const default_branch of [null, ""]) {
      const kept = await update("of-nulls", { default_branch });
      assert.deepEqual([kept.status, kept.body], [200, changed.body]);
    }
    const { services } = api.world;
    const { pipelines } = services.db.tables;
    const rows = await services.db.select().from(pipelines);
    assert.deepEqual(rows.find(({ id }) => id === body.id)?.steps, [
      { command: "a" },
      { command: "b", agents: {} },
    ]);
  });

  it("POST takes the cluster of an organization that has one only", async () => {
    const solo = await setUpOrganization(api.world, unique("solo"));
    const token = await solo.token("read_pipelines", "write_pipelines");
    const url = `${api.world.url}/v2/organizations/${solo.slug}/pipelines`;
    const make = async (more: object = {}) =>
      request(url, {
        method: "POST",
        headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
        body: JSON.stringify({ name: unique("P"), steps: [{ command: "a" }], ...more }),
      });

    for (const more of [{}, { cluster_id: null }]) {
      const { status, body } = await make(more);
      assert.deepEqual([status, body.cluster_id], [201, solo.cluster.id]);
    }
    await createCluster(api.world.services, solo.operator, { name: "Second" });
    const { status, body } = await make();
    assert.deepEqual([status, body.message], [422, "Validation failed: Cluster can't be blank"]);
  });

  it("POST reports all missing and mistyped members at once", async () => {
    const { status, body } = await api.send("POST", "/pipelines", { body: {} });
    const message = "Validation failed: Name can't be blank, Steps can't be blank";
    assert.deepEqual([status, body], [422, { message }]);

    await invalid(
      create({ name: "", slug: "web", cluster_id: unknownId, default_branch: 1 }),
      "Name can't be blank",
      "Default branch must be text",
      "Slug has already been taken",
      "Cluster must be a cluster of the organization",
    );
    await invalid(
      create({ name: "", slug: "A", steps: [{ command: "a", agents: { queue: "nope" } }] }),
      "Name can't be blank",
      "Slug can only contain lower-case letters, numbers and single hyphens",
      "Steps name the queue nope, which the cluster does not have",
    );
    await invalid(
      update("web", { name: "", steps: [{ command: "a", agents: { queue: "nope" } }] }),
      "Name can't be blank",
      "Steps name the queue nope, which the cluster does not have",
    );
  });

  it("trims names and keeps the white space of commands", async () => {
    const name = unique("Spaced out");
    const { body } = await create({ name: `\n ${name}  `, steps: [{ command: " make\n" }] });
    assert.deepEqual([body.name, body.steps], [name, presentSteps([{ command: " make\n" }])]);
    const longest = "n".repeat(100);
    assert.equal((await update(body.slug, { name: ` ${longest}\t` })).body.name, longest);
  });

  it("POST refuses invalid steps", async () => {
    const command = "make";
    for (const [steps, ...reasons] of [
      [null, "Steps can't be blank"],
      ["make", "Steps must be a list"],
      ["", "Steps must be a list"],
      [{ command }, "Steps must be a list"],
      [["make"], "Steps must be objects"],
      [[null], "Steps must be objects"],
      [[{}], "Step command can't be blank"],
      [[{ command: " " }], "Step command can't be blank"],
      [[{ comand: "make" }], "Step has no member named comand. Did you mean command?"],
      [
        [{ label: "Deploy", triger: "deploy" }],
        "command: Step has no member named triger. Did you mean trigger?",
      ],
      [[{ steps: [], gruop: "Tests" }], "command: Step has no member named gruop. Did you mean group?"],
      [[{ image: "debian" }], "Step command can't be blank"],
      [[{ command: [{}] }], "Step command must be text"],
      [[{ command, label: {} }], "Step label must be text"],
      [[{ command, agents: 7 }], "Step agents must be an object or a list"],
      [[{ command, agents: { queue: {} } }], "agents: Step queue must be text"],
      [[{ command: "\u0000" }], "Step command must be text without NUL"],
      [Array(501).fill({ command }), "Steps can be 500 at most"],
      [
        [{}, { command: [{}] }],
        "steps[0].command: Step command can't be blank",
        "steps[1].command[0]: Step command must be text",
      ],
    ] as [unknown, ...string[]][])
      await invalid(create({ steps }), ...reasons);
    assert.equal((await create({ steps: Array(500).fill({ command }) })).status, 201);
  });

  it("take no steps, and those of groups and of queues of a matrix", async () => {
    const { slug } = (await create({ steps: [] })).body;
    assert.deepEqual((await read(slug)).steps, []);
    const { key } = await api.newQueue();
    const build = { command: "make", artifact_paths: "*.log", cache: "c" };
    const onQueues = (matrix: string[]) => ({ command: "a", agents: { queue: "{{matrix}}" }, matrix });
    const steps = [
      { group: "All", key: "all", steps: [build, "wait", onQueues([key])] },
      { command: "b", depends_on: "all", if: 'build.branch == "main"', agents: ["os=linux", "gpu"] },
    ];

    const { body } = await update(slug, { steps });

    const { cache, ...members } = build;
    const stored: Step[] = [
      {
        type: "group",
        label: "All",
        key: "all",
        steps: [
          { ...members, others: { cache } },
          { type: "wait" },
          { ...onQueues([key]), matrix: { setup: [key] } },
        ],
      },
      {
        command: "b",
        depends_on: [{ step: "all" }],
        if: 'build.branch == "main"',
        agents: { os: "linux", gpu: "*" },
      },
    ];
    assert.deepEqual(body.steps, presentSteps(stored));
    assert.deepEqual((await update(slug, { steps: body.steps })).body.steps, body.steps);
    await invalid(
      update(slug, { steps: [{ group: "All", steps: [onQueues([key, "nope"])] }] }),
      "Steps name the queue nope, which the cluster does not have",
    );
  });

  it("POST refuses steps without a queue in the cluster, each reason once", async () => {
    const bare = await api.newCluster();
    const on = (queue: string) => ({ command: "a", agents: { queue } });
    const lacking = (key: string) => `Steps name the queue ${key}, which the cluster does not have`;

    await invalid(create({ steps: [on("nope"), on("nope"), on("none")] }), lacking("nope"), lacking("none"));
    await invalid(create({ steps: [on("DEFAULT")] }), lacking("DEFAULT"));
    await invalid(create({ steps: [on("q".repeat(100))] }), lacking("q".repeat(100)));
    await invalid(create({ cluster_id: bare.id, steps: [{ command: "a" }, { command: "b" }] }), noDefault);
    await invalid(
      create({ cluster_id: bare.id, steps: [on("default"), { command: "a" }] }),
      lacking("default"),
      noDefault,
    );
    assert.equal((await create({ steps: [on("default")] })).status, 201);
  });

  it("POST refuses another organization's cluster", async () => {
    for (const cluster_id of [unknownId, "x", api.acme.cluster.id.toUpperCase(), api.acme.queue.id])
      await invalid(create({ cluster_id }), "Cluster must be a cluster of the organization");
  });

  it("POST refuses a taken or invalid slug", async () => {
    await invalid(create({ slug: "web" }), "Slug has already been taken");
    for (const slug of ["A", "a_b", "-a", "a--b", "a b"])
      await invalid(create({ slug }), "Slug can only contain lower-case letters, numbers and single hyphens");
    for (const name of ["!!!", "日本語"]) {
      for (const slug of [undefined, null])
        await invalid(create({ name, slug }), "Slug can't be made of this name: give one");
      const given = await create({ name, slug: unique("given") });
      assert.deepEqual([given.status, given.body.name], [201, name]);
    }
    await invalid(create({ slug: "s".repeat(101) }), "Slug is too long (maximum is 100 characters)");
  });

  it("accepts exactly one of simultaneous creates with one slug, in several clusters", async () => {
    const clusters: string[] = [];
    for (let made = 0; made < 3; made++) {
      const { id } = await api.newCluster();
      await api.newQueue({ key: "only" }, id);
      clusters.push(id);
    }
    const steps = [{ command: "a", agents: { queue: "only" } }];
    for (let round = 0; round < 4; round++) {
      const slug = unique("racing");
      const all = [...clusters, ...clusters].map((cluster_id) => create({ slug, cluster_id, steps }));
      const answers = await Promise.all(all);
      assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 422, 422, 422, 422, 422]);
    }
  });

  for (const method of ["PUT", "PATCH"]) {
    it(`${method} changes only the given members, and never the slug`, async () => {
      const made = await api.newPipeline();
      const none = await update(made.slug, { slug: "other", unknown: 1 }, method);
      const change = { name: unique("New"), default_branch: "trunk", steps: [{ command: "b" }] };
      const all = await update(made.slug, change, method);

      assert.deepEqual([none.status, none.body], [200, made]);
      assert.deepEqual(
        [all.status, all.body],
        [200, { ...made, ...change, steps: presentSteps(change.steps) }],
      );
      assert.deepEqual(await read(made.slug), all.body);
    });
  }

  it("PATCH moves a pipeline to a cluster that can run its steps", async () => {
    const cluster = await api.newCluster();
    const { key } = await api.newQueue({}, cluster.id);
    const made = await api.newPipeline();
    await invalid(update(made.slug, { cluster_id: cluster.id }), noDefault);
    const steps = [{ command: "a", agents: { queue: key } }];
    const moved = await update(made.slug, { cluster_id: cluster.id, steps });
    assert.deepEqual(moved.body, { ...made, cluster_id: cluster.id, steps: presentSteps(steps) });
    await invalid(update(made.slug, { steps: [{ command: "a" }] }), noDefault);
  });

  it("never leaves steps that cannot run after a simultaneous move and change of steps", async () => {
    const cluster = await api.newCluster();
    const both = unique("both");
    const here = (await api.newQueue()).key;
    await api.newQueue({ key: both });
    await api.newQueue({ key: both }, cluster.id);
    const on = (queue: string) => [{ command: "a", agents: { queue } }];
    for (let round = 0; round < 8; round++) {
      const { slug } = await api.newPipeline({ steps: on(both) });
      await Promise.all([
        update(slug, { cluster_id: cluster.id }),
        update(slug, { steps: on(here) }),
        update(slug, { cluster_id: cluster.id }),
      ]);
      const { cluster_id, steps } = await read(slug);
      if (cluster_id === cluster.id) assert.deepEqual(steps, presentSteps(on(both)));
    }
  });

  it("PATCH refuses the same input as POST", async () => {
    const { slug } = await api.newPipeline();
    await invalid(update(slug, { name: "", steps: null }), "Name can't be blank", "Steps can't be blank");
    await invalid(update(slug, { cluster_id: unknownId }), "Cluster must be a cluster of the organization");
  });

  it("DELETE ends the triggers at once, and is refused while jobs are unfinished", async () => {
    const made = await api.newPipeline();
    const trigger = await api.acme.trigger({}, made.slug);
    await api.build(made.id, 2);
    const remove = () => api.send("DELETE", `/pipelines/${made.slug}`);

    assert.deepEqual((await remove()).body, { message: "Pipeline has 2 unfinished jobs" });
    await api.send("PUT", `/pipelines/${made.slug}/builds/1/cancel`);
    const refused = await remove();
    assert.deepEqual([refused.status, refused.body], [422, { message: "Pipeline has 1 unfinished jobs" }]);
    await api.send("PUT", `/pipelines/${made.slug}/builds/2/cancel`);
    const gone = await remove();

    assert.deepEqual([gone.status, gone.text], [204, ""]);
    const delivered = await request(api.world.url + trigger.path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: "{}",
    });
    assert.deepEqual([delivered.status, delivered.body], [404, { message: "Pipeline trigger not found" }]);
    for (const path of ["", "/builds", "/builds/1"]) {
      const { status, body } = await api.send("GET", `/pipelines/${made.slug}${path}`);
      assert.deepEqual([status, body], [404, { message: "No pipeline found" }]);
    }
    assert.equal((await create({ slug: made.slug })).status, 201);
  });

  it("GET lists pipelines, oldest first, with links", async () => {
    const page = await api.send("GET", "/pipelines?per_page=1");
    assert.deepEqual(page.body, [await read("web")]);
    assert.match(linkHeader(page) ?? "", /pipelines\?per_page=1&page=2>; rel="next", <.*>; rel="last"$/);
  });
});
