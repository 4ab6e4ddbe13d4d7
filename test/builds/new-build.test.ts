import assert from "node:assert/strict";
import { it } from "node:test";
import { eq } from "drizzle-orm";
import { createBuilds } from "../../shared/builds/making/builds.ts";
import { issueReadingToken } from "../../shared/builds/meta-data/meta-data.ts";
import { buildRequest, openApi } from "../helpers/api.ts";
import { allBuilds, buildWebhook } from "../helpers/builds.ts";
import { describeWorldOn, sqlite } from "../helpers/databases.ts";
import { request } from "../helpers/http.ts";

describeWorldOn(sqlite, "builds made by hand", openApi, (api) => {
  const create = (slug: string, body?: unknown) => api.send("POST", `/pipelines/${slug}/builds`, { body });
  const rebuild = (slug: string, number: number) =>
    api.send("PUT", `/pipelines/${slug}/builds/${number}/rebuild`);
  const lastAudit = async () => {
    const { db } = api.world.services;
    const rows = await db.select().from(db.tables.auditEvents);
    const last = rows.sort((a, b) => (a.id < b.id ? -1 : 1)).at(-1);
    return [last?.action, last?.subjectType, last?.subject];
  };

  it("have numbers without gaps, also beside those whose condition cannot be evaluated", async () => {
    const { id, slug } = await api.newPipeline({
      steps: [{ command: "a", if: "build.message =~ /^(ab){150}/" }],
    });
    const { services, clock } = api.world;
    const request = buildRequest(id);
    const message = "ab".repeat(5000);
    const wrong = { ...request, message };

    const made = await services.db.transaction((tx) =>
      createBuilds(tx, services, [request, wrong, request, wrong], clock.now()),
    );

    assert.deepEqual([made.builds.map(({ number }) => number), made.refused.length], [[1, 2], 2]);
    assert.match(
      made.problems[0]?.message ?? "",
      /^steps\[0\]\.if: The regular expressions are too large for texts/,
    );
    assert.equal((await create(slug, { message })).status, 422);
    assert.equal((await create(slug)).body.number, 3);
  });

  it("POST 422 where the variables of a step would make it a hundred times as large", async () => {
    const build = { meta_data: { a: "$A".repeat(32_000) } };
    const { slug } = await api.newPipeline({ steps: [{ trigger: "another", build }] });
    const { status, body } = await create(slug, { env: { A: "x".repeat(200) } });
    assert.equal(status, 422);
    assert.match(JSON.stringify(body), /their variables would add more than 1,048,576 characters/);
    assert.equal((await create(slug, { env: { A: "x" } })).status, 201);
  });

  it("POST takes what the public Go client sends", async () => {
    const { slug } = await api.newPipeline({ steps: [{ command: "a" }, "wait", { command: "b" }] });
    const sent = {
      commit: "abc",
      branch: "topic",
      message: "Hello",
      author: { name: "Ada", email: "ada@example.com", username: "ada" },
      clean_checkout: false,
      env: { COLOUR: "red" },
      meta_data: { release: "1.0" },
      pull_request_id: 1,
    };

    const { status, body } = await create(slug, sent);

    assert.equal(status, 201);
    assert.deepEqual(
      [body.number, body.commit, body.branch, body.message, body.source, body.state],
      [1, "abc", "topic", "Hello", "api", "scheduled"],
    );
    assert.deepEqual(body.author, { name: "Ada", email: "ada@example.com", username: "ada" });
    assert.equal(body.creator.id, api.admin.id);
    assert.equal(body.env.COLOUR, "red");
    assert.deepEqual(body.meta_data, { release: "1.0" });
    assert.equal(body.rebuilt_from, null);
    assert.deepEqual(
      body.jobs.map((job: { state: string }) => job.state),
      ["scheduled", "waiting", "waiting"],
    );
    assert.deepEqual((await api.send("GET", `/pipelines/${slug}/builds/1`)).body, body);
    assert.deepEqual(await lastAudit(), ["created", "build", `${slug} #1`]);
    const row = (await allBuilds(api.world)).at(-1);
    assert.ok(!JSON.stringify(row).includes(`"red"`));
  });

  it("POST takes a pull request and a clean checkout, which rebuilds have too", async () => {
    const { slug } = await api.newPipeline();
    const sent = {
      clean_checkout: true,
      ignore_pipeline_branch_filters: true,
      pull_request_id: 7,
      pull_request_base_branch: "main",
      pull_request_repository: "git@example.com:fork.git",
      pull_request_labels: ["a", "b"],
      meta_data: { yes: true, no: false },
    };

    const { status, body, text } = await create(slug, sent);

    assert.equal(status, 201, text);
    const pullRequest = {
      ...{ id: "7", base: "main", repository: "git@example.com:fork.git", labels: ["a", "b"] },
      ...{ title: null, url: null, draft: false },
    };
    assert.deepEqual(body.pull_request, pullRequest);
    assert.deepEqual(body.meta_data, { yes: "true", no: "false" });
    assert.deepEqual((await rebuild(slug, 1)).body.pull_request, pullRequest);
    const options = (await allBuilds(api.world)).slice(-2).map((row) => row.options);
    const { id, base: base_branch, repository, labels, draft } = pullRequest;
    const stored = {
      clean_checkout: true,
      ignore_pipeline_branch_filters: true,
      pull_request: { id, base_branch, repository, labels, draft },
    };
    assert.deepEqual(options, [stored, stored]);
    assert.equal(
      (await create(slug, { clean_checkout: false, pull_request_labels: [] })).body.pull_request,
      null,
    );
  });

  it("POST takes the pull request that variables name", async () => {
    const { slug } = await api.newPipeline();
    const env = { BUILDKITE_PULL_REQUEST: "9", BUILDKITE_PULL_REQUEST_BASE_BRANCH: "main" };

    const { body } = await create(slug, { env });

    const { id, base, repository } = body.pull_request;
    assert.deepEqual([id, base, repository], ["9", "main", null]);
  });

  it("POST has a default for every member", async () => {
    const { slug } = await api.newPipeline({ default_branch: "trunk" });
    const none = { commit: "", branch: null, message: " ", env: null, meta_data: null, author: null };
    for (const body of [undefined, {}, none]) {
      const answer = await create(slug, body);
      assert.equal(answer.status, 201);
      const { commit, branch, message, author, meta_data } = answer.body;
      const expected = ["HEAD", "trunk", "Built by hand", null, {}];
      assert.deepEqual([commit, branch, message, author, meta_data], expected);
    }
  });

  it("POST reports all wrong members at once", async () => {
    const refused = async (body: object, ...reasons: string[]) => {
      const answer = await create("web", body);
      const message = `Validation failed: ${reasons.join(", ")}`;
      assert.deepEqual([answer.status, answer.body], [422, { message }]);
    };
    await refused(
      { commit: 1, branch: [], message: {}, meta_data: { "service:webhook": "x", "": "y" } },
      "Commit must be text",
      "Branch must be text",
      "Message must be text",
      "The key service:webhook is reserved",
      "Key can't be blank",
    );
    await refused(
      { env: { SIGNALBOX_COMMIT: "x" } },
      "Env names cannot be SIGNALBOX or start with SIGNALBOX_, which every build sets itself",
    );
    await refused({ env: { A: 1 } }, "Env variable A must be text, not a number");
    await refused({ meta_data: { "service:webhook": "x" } }, "The key service:webhook is reserved");
    await refused({ meta_data: { a: "x".repeat(102_401) } }, "Value is larger than 100 KB");
    await refused({ meta_data: { a: 1 } }, "Meta-data values must be text");
    await refused({ meta_data: "a" }, "Meta-data must be an object of names and text");
    const proto = JSON.parse('{"__proto__":{"a":1}}');
    await refused(
      { meta_data: proto },
      "Meta-data cannot have the name __proto__",
      "Meta-data values must be text",
    );
    await refused(
      { env: { A: 1 }, meta_data: proto },
      "Env variable A must be text, not a number",
      "Meta-data cannot have the name __proto__",
      "Meta-data values must be text",
    );
    await refused({ author: "Ada" }, "Author must be an object");
    for (const pull_request_id of [0, 1.5, "7", 2 ** 31])
      await refused(
        { pull_request_id, pull_request_base_branch: "main" },
        "Pull request id must be a whole number of at least 1",
      );
    await refused({ pull_request_base_branch: "main" }, "pull_request_base_branch needs pull_request_id");
    await refused({ pull_request_labels: "a" }, "Pull request labels must be a list of text");
    await refused({ clean_checkout: "yes" }, "Clean checkout must be true or false");
    const many = (value: unknown) =>
      Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`k${index}`, value]));
    await refused({ meta_data: many("v") }, "Meta-data has more than 100 keys");
    await refused({ meta_data: many([]) }, "Meta-data has more than 100 keys");
  });

  it("PUT …/rebuild makes a build like another, with the present steps", async () => {
    const { slug } = await api.newPipeline({ steps: [{ command: "before" }] });
    const sent = { commit: "abc", branch: "topic", message: "Hello", env: { COLOUR: "red" } };
    const original = (await create(slug, { ...sent, author: { name: "Ada" }, meta_data: { a: "b" } })).body;
    await api.send("PATCH", `/pipelines/${slug}`, { body: { steps: [{ command: "after" }] } });

    const { status, body } = await rebuild(slug, 1);

    assert.equal(status, 200);
    const { number, commit, branch, message, author, meta_data } = body;
    assert.deepEqual(
      [number, commit, branch, message, author, meta_data],
      [2, "abc", "topic", "Hello", { name: "Ada" }, {}],
    );
    assert.deepEqual(body.rebuilt_from, { id: original.id, number: 1, url: original.url });
    assert.equal(body.env.COLOUR, "red");
    assert.equal(body.env.SIGNALBOX_BUILD_NUMBER, "2");
    assert.deepEqual(
      body.jobs.map((job: { command: string }) => job.command),
      ["after"],
    );
    assert.deepEqual(await lastAudit(), ["created", "build", `${slug} #2`]);
    assert.equal((await rebuild(slug, 9)).status, 404);
  });

  it("PUT …/rebuild of a webhook's build keeps the payload readable, with numbers of their own", async () => {
    const { slug } = await api.newPipeline();
    const trigger = await api.acme.trigger({ environment: { COLOUR: "red" } }, slug);
    const { services, url } = api.world;
    const { number, deliveryId } = await buildWebhook(api.world, trigger.path, '{"a":1}');
    const delivery = `/pipelines/${slug}/triggers/${trigger.id}/deliveries/${deliveryId}`;

    const answers = await Promise.all([
      rebuild(slug, number),
      api.send("POST", `${delivery}/rebuild`),
      rebuild(slug, number),
      api.send("POST", `${delivery}/rebuild`),
    ]);

    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 201, 200, 201],
    );
    const made = (await allBuilds(api.world)).filter((each) => each.deliveryId === deliveryId);
    assert.deepEqual(made.map((each) => each.rebuild).sort(), [0, 1, 2, 3, 4]);
    const { id, env, jobs } = answers[0]?.body ?? assert.fail();
    assert.equal(env.COLOUR, "red");
    const token = await issueReadingToken(services, jobs[0]);
    const payload = await request(`${url}/v3/builds/${id}/data/get`, {
      method: "POST",
      headers: { Authorization: `Token ${token}`, "Content-Type": "application/json" },
      body: '{"key":"service:webhook"}',
    });
    assert.equal(payload.body.value, '{"a":1}');
  });

  it("are refused while a step has no queue", async () => {
    const { key, id } = await api.newQueue();
    const { slug } = await api.newPipeline({ steps: [{ command: "a", agents: { queue: key } }] });
    await create(slug);
    const { db } = api.world.services;
    await db.transaction(async (tx) => {
      const { queues } = tx.tables;
      await tx.update(queues).set({ deletedAt: tx.now }).where(eq(queues.id, id));
    });

    const message = "The pipeline cannot build: a step has no queue to run on";
    for (const answer of [await create(slug), await rebuild(slug, 1)])
      assert.deepEqual([answer.status, answer.body], [422, { message }]);
  });
});
