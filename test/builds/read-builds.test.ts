import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { eq } from "drizzle-orm";
import { createBuilds } from "../../shared/builds/making/builds.ts";
import { createPipeline } from "../../shared/pipelines/pipelines.ts";
import { pipelineSteps } from "../../shared/pipelines/steps.ts";
import type { BuildState } from "../../shared/vocabulary.ts";
import { linkHeader } from "../helpers/api.ts";
import { allBuilds, fanOut } from "../helpers/builds.ts";
import { describeOnBothDatabases, describeWorld, withSettings } from "../helpers/databases.ts";
import { get } from "../helpers/http.ts";
import { openAcme, setUpOrganization, type TestOrganization } from "../helpers/organization.ts";
import { startWorld } from "../helpers/world.ts";

const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const settings = {
  PUBLIC_URL: "https://ci.example.com",
  API_REQUESTS_PER_MINUTE: "100000",
};

describeWorld("GET builds and pipelines", withSettings(openAcme, settings), (world) => {
  let other: TestOrganization;
  let token: string;

  before(async () => {
    other = await setUpOrganization(world, "other");
    token = await world.acme.token("read_builds", "read_pipelines");
    await build(world.acme, 45);
    await build(other, 1);
  });

  async function build(organization: TestOrganization, amount: number, more = {}) {
    const request = {
      pipelineId: organization.pipeline.id,
      deliveryId: null,
      source: "webhook" as const,
      message: "m",
      commit: "HEAD",
      branch: "main",
      environmentSealed: null,
      ...more,
    };
    await world.services.db.transaction((tx) =>
      createBuilds(
        tx,
        world.services,
        Array.from({ length: amount }, () => request),
        world.clock.now(),
      ),
    );
  }
  /** Later tests count builds and pipelines. */
  const deletePipelineAndBuilds = (id: string) =>
    world.services.db.transaction(async (tx) => {
      const { builds, pipelines } = tx.tables;
      await tx.delete(builds).where(eq(builds.pipelineId, id));
      await tx.delete(pipelines).where(eq(pipelines.id, id));
    });
  const acmeGet = (path: string, bearer = token) => get(`${world.url}/v2/organizations/acme${path}`, bearer);
  const numbers = (body: { number: number }[]) => body.map((each) => each.number);

  describe("a build", () => {
    it("has every member, links with the public address, and times in milliseconds", async () => {
      const { status, body } = await acmeGet("/pipelines/web/builds/7");

      assert.equal(status, 200);
      const base = "https://ci.example.com/v2/organizations/acme/pipelines/web";
      const [row] = (await allBuilds(world)).filter((each) => each.number === 7);
      assert.deepEqual(Object.keys(body), [
        ...[
          "id",
          "graphql_id",
          "url",
          "web_url",
          "number",
          "state",
          "blocked",
          "cancel_reason",
          "message",
          "commit",
          "branch",
          "tag",
          "env",
        ],
        ...[
          "source",
          "author",
          "creator",
          "pull_request",
          "fork",
          "merge_queue",
          "triggered_from",
          "rebuilt_from",
          "created_at",
          "scheduled_at",
          "started_at",
          "failing_at",
          "finished_at",
          "meta_data",
        ],
        ...["job_state_counts", "warnings", "pipeline", "jobs"],
      ]);
      assert.equal(body.id, row?.id);
      assert.equal(Buffer.from(body.graphql_id, "base64").toString(), `Build---${row?.id}`);
      assert.equal(body.url, `${base}/builds/7`);
      assert.equal(body.web_url, "https://ci.example.com/organizations/acme/pipelines/web/builds/7");
      assert.match(body.created_at, timestamp);
      assert.deepEqual(
        [body.creator, body.started_at, body.finished_at, body.blocked],
        [null, null, null, false],
      );
      assert.equal(body.pipeline.url, base);
      assert.deepEqual(body.jobs[0].agent_query_rules, ["queue=default"]);
    });

    it("has only jobs of the given states, and counts all of them", async () => {
      const jobs = async (query: string) =>
        (await acmeGet(`/pipelines/web/builds/7?${query}`)).body.jobs.map(
          (job: { state: string }) => job.state,
        );

      assert.deepEqual(await jobs("job_states[]=scheduled&job_states[]=passed"), ["scheduled"]);
      assert.deepEqual(await jobs("job_states=failed"), []);
      const { body } = await acmeGet("/pipelines/web/builds/7?job_states[]=failed");
      assert.deepEqual(body.job_state_counts, { total: 1, states: { scheduled: 1 } });
      const wrong = await acmeGet("/pipelines/web/builds/7?job_states[]=nope");
      const message = "Validation failed: State nope is not a job state";
      assert.deepEqual([wrong.status, wrong.body], [422, { message }]);
    });

    it("names members of its steps that have no effect, with the reason", async () => {
      const pipeline = await createPipeline(world.services, world.acme.operator, {
        clusterId: world.acme.cluster.id,
        slug: "warned",
        name: "Warned",
        steps: pipelineSteps.parse([{ command: "a", label: "A", ofOthers: 1, notify: [{ slack: "#a" }] }]),
      });
      await build({ ...world.acme, pipeline }, 1);

      const { body } = await acmeGet("/pipelines/warned/builds/1");

      const reason = "The organization has no notification service for Slack";
      assert.deepEqual(body.warnings, [
        { step: "A", member: "ofOthers" },
        { step: "A", member: "notify", reason },
      ]);
      await deletePipelineAndBuilds(pipeline.id);
    });

    it("is not_run if all steps were left out, which is finished", async () => {
      const pipeline = await createPipeline(world.services, world.acme.operator, {
        clusterId: world.acme.cluster.id,
        slug: "left-out",
        name: "Left out",
        steps: pipelineSteps.parse([{ command: "a", if: "false" }]),
      });
      await build({ ...world.acme, pipeline }, 1);

      for (const query of ["state=not_run", "state=finished"]) {
        const { body } = await acmeGet(`/pipelines/left-out/builds?${query}`);
        assert.deepEqual(
          body.map(({ state }: { state: string }) => state),
          ["not_run"],
        );
      }
      await deletePipelineAndBuilds(pipeline.id);
    });

    it("is 404 for a malformed number", async () => {
      for (const number of ["0", "46", "-1", "1e3", "abc", "99999999999999999999", "7.0", "%00"]) {
        const { status, body } = await acmeGet(`/pipelines/web/builds/${number}`);
        assert.deepEqual([status, body], [404, { message: "No build found" }], number);
      }
    });
  });

  describe("lists", () => {
    it("are newest first, 30 a page, with links to the other pages", async () => {
      const first = await acmeGet("/pipelines/web/builds");
      const second = await acmeGet("/pipelines/web/builds?page=2");

      assert.deepEqual(
        numbers(first.body),
        Array.from({ length: 30 }, (_, at) => 45 - at),
      );
      assert.deepEqual(
        numbers(second.body),
        Array.from({ length: 15 }, (_, at) => 15 - at),
      );
      const at = (page: number) =>
        `<https://ci.example.com/v2/organizations/acme/pipelines/web/builds?page=${page}&per_page=30>`;
      assert.equal(linkHeader(first), `${at(2)}; rel="next", ${at(2)}; rel="last"`);
      assert.equal(linkHeader(second), `${at(1)}; rel="first", ${at(1)}; rel="prev"`);
    });

    it("clamp page and per_page, and answer [] past the end", async () => {
      const length = async (query: string) => (await acmeGet(`/builds?${query}`)).body.length;
      assert.equal(await length("per_page=1000"), 45);
      assert.equal(await length("per_page=0"), 1);
      assert.equal(await length("per_page=-5"), 1);
      assert.equal(await length("per_page=abc&page="), 30);
      assert.equal(await length("page=0&per_page=2"), 2);
      assert.equal(await length("page=99999999999999999999"), 0);
      const past = await acmeGet("/builds?page=9");
      assert.deepEqual([past.status, past.body], [200, []]);
    });

    it("keep the caller's other parameters in their links", async () => {
      const page = await acmeGet("/builds?branch=main&per_page=10");
      assert.match(linkHeader(page) ?? "", /builds\?branch=main&per_page=10&page=2>; rel="next"/);
    });

    it("show only the organization's own builds", async () => {
      const { body } = await acmeGet("/builds?per_page=100");
      assert.equal(body.length, 45);
      assert.deepEqual(
        new Set(body.map((each: { pipeline: { id: string } }) => each.pipeline.id)),
        new Set([world.acme.pipeline.id]),
      );
    });

    it("filter by state, branch, commit and time", async () => {
      await build(world.acme, 2, { branch: "release", commit: "abc" });
      const { db } = world.services;
      await db.transaction(async (tx) => {
        const { builds } = tx.tables;
        await tx.update(builds).set({ state: "failed" }).where(eq(builds.number, 1));
        await tx.update(builds).set({ state: "running" }).where(eq(builds.number, 2));
      });
      const found = async (query: string) => numbers((await acmeGet(`/pipelines/web/builds?${query}`)).body);

      const setState = (number: number, state: BuildState) =>
        db.transaction(async ({ tables: { builds }, update }) => {
          await update(builds).set({ state }).where(eq(builds.number, number));
        });
      await setState(3, "failing");
      await setState(4, "canceling");
      assert.deepEqual(await found("state=running"), [4, 3, 2]);
      for (const number of [3, 4]) await setState(number, "scheduled");

      assert.deepEqual(await found("state=finished"), [1]);
      assert.deepEqual(await found("state[]=failed&state[]=running"), [2, 1]);
      assert.deepEqual(await found("branch=release"), [47, 46]);
      assert.deepEqual(await found("branch[]=release&branch[]=x&commit=abc"), [47, 46]);
      assert.deepEqual(await found("commit=nope"), []);
      assert.deepEqual(await found("commit[]=abc&commit[]=x"), [47, 46]);
      assert.deepEqual(await found("commit=x&commit=abc"), [47, 46]);
      assert.deepEqual(await found("state[0]=failed&state[1]=running"), [2, 1]);
      assert.deepEqual(await found("branch[0]=release&commit[7]=abc"), [47, 46]);
      assert.deepEqual(await found("created_from=2999-01-01T00:00:00Z"), []);
      assert.deepEqual(await found("created_to=2001-01-01"), []);
      assert.equal((await found("created_from=2001-01-01T00:00:00%2B02:00&per_page=100")).length, 47);
    });

    it("honour all options of the public Go client", async () => {
      const { db } = world.services;
      const { builds, metaData } = db.tables;
      const all = await db.select().from(builds).where(eq(builds.pipelineId, world.acme.pipeline.id));
      const idOf = (number: number) => all.find((each) => each.number === number)?.id ?? "";
      await db.transaction(async (tx) => {
        const finishedAt = new Date("2026-02-01T00:00:00Z");
        await tx.update(builds).set({ creatorId: world.acme.user.id }).where(eq(builds.number, 3));
        await tx
          .update(builds)
          .set({ finishedAt })
          .where(eq(builds.id, idOf(1)));
        for (const [number, key, value] of [
          [4, "release", "1.0"],
          [5, "release", "1.0"],
          [5, "a]b[", ""],
        ] as const)
          await tx.insert(metaData).values({ buildId: idOf(number), key, value });
      });
      for (const path of ["/builds", "/pipelines/web/builds"]) {
        const found = async (query: string) => {
          const { status, body, text } = await acmeGet(`${path}?per_page=100&${query}`);
          assert.equal(status, 200, text);
          return numbers(body);
        };

        assert.deepEqual(await found(`creator=${world.acme.user.id}`), [3]);
        assert.deepEqual(await found(`creator=${world.acme.user.id.toUpperCase()}`), [3]);
        assert.deepEqual(await found("finished_from=2026-02-01T00:00:00Z"), [1]);
        assert.deepEqual(await found("finished_from=2026-02-01T00:00:01Z"), []);
        assert.deepEqual(await found("meta_data[release]=1.0"), [5, 4]);
        assert.deepEqual(await found("meta_data%5Brelease%5D=1.0&meta_data%5Ba%5Db%5B%5D="), [5]);
        assert.deepEqual(await found("meta_data[release]=2.0"), []);
        assert.deepEqual(await found("state[]=skipped&state[]=not_run"), []);
        assert.deepEqual(await found("state[]=skipped&state[]=failed"), [1]);
        assert.equal((await found("include_retried_jobs=true&include_paused=true")).length, 47);
      }
      const [lean] = (await acmeGet("/builds?exclude_jobs=true&exclude_pipeline=true")).body;
      const [full] = (await acmeGet("/builds?exclude_jobs=false&exclude_pipeline=0")).body;
      const { jobs, pipeline, ...rest } = full;
      assert.deepEqual(lean, rest);
      assert.ok(jobs.length > 0 && pipeline.slug === "web");
      const one = `/pipelines/web/builds/${full.number}`;
      const details = { job_state_counts: { total: 1, states: { scheduled: 1 } }, warnings: [] };
      const leanOne = (await acmeGet(`${one}?exclude_jobs=true&exclude_pipeline=true`)).body;
      assert.deepEqual(leanOne, { ...rest, ...details });
      const fullOne = (await acmeGet(`${one}?include_test_engine=true`)).body;
      assert.deepEqual(fullOne, { ...full, ...details });
    });

    it("refuse other filters, and name all problems", async () => {
      for (const [query, message] of [
        ["stat=failed", "There is no filter stat"],
        ["branches[]=x", "There is no filter branches[]"],
        ["stat=&source=webhook&stat=x", "There is no filter stat, There is no filter source"],
        ["creator[]=x&created_from[0]=x", "There is no filter creator[], There is no filter created_from[0]"],
        ["include_paused[]=false", "There is no filter include_paused[]"],
        ["meta_data=x", "Meta-data must be given as meta_data[key]=value"],
        ["meta_data[a]=%00", "Meta-data must be text without NUL"],
        ["creator=ada", "Creator must be the id of a user"],
        ["exclude_jobs=maybe", "exclude_jobs must be true or false"],
        [
          "x=1&state=nope&commit=%00&created_to=x",
          "There is no filter x, State nope is not a build state, Commit must be text without NUL, created_to must be a time such as 2026-01-31T00:00:00Z",
        ],
      ] as const) {
        const { status, body } = await acmeGet(`/builds?${query}`);
        assert.deepEqual([status, body], [422, { message: `Validation failed: ${message}` }], query);
      }
    });

    it("omit builds that wait only for paused queues, with include_paused=false", async () => {
      const { db } = world.services;
      const pause = async (at: Date | null) => {
        await db.transaction(async (tx) => {
          const { queues } = tx.tables;
          await tx.update(queues).set({ dispatchPausedAt: at }).where(eq(queues.id, world.acme.queue.id));
        });
        await fanOut(world.services, world.acme.queue.id);
      };

      assert.equal((await acmeGet("/builds?include_paused=false&per_page=100")).body.length, 47);
      await pause(new Date());
      assert.equal((await acmeGet("/builds?per_page=100")).body.length, 47);
      for (const no of ["false", "False", "FALSE", "0"])
        assert.equal((await acmeGet(`/builds?include_paused=${no}&per_page=100`)).body.length, 0, no);
      for (const yes of ["true", "TRUE", "1", ""])
        assert.equal((await acmeGet(`/builds?include_paused=${yes}&per_page=100`)).body.length, 47, yes);
      await pause(null);
    });

    it("repeat at most 100 characters of an unknown state", async () => {
      const { body } = await acmeGet(`/builds?state=${"x".repeat(5000)}`);
      const told = `${"x".repeat(100)}…`;
      assert.deepEqual(body, { message: `Validation failed: State ${told} is not a build state` });
    });

    it("refuse malformed filters", async () => {
      for (const query of [
        "state=nope",
        "created_from=yesterday",
        "created_from=0000-01-01",
        "created_to=9999-12-31T23:59:59-01:00",
        "created_to=2026-13-01",
        "commit=%00",
        "branch=%00",
        "commit[]=%00",
        "state[3]=nope",
        "include_paused=no",
        "include_paused=2",
        "created_from=2026-01-31T00:00:00",
        "finished_from=x",
        "include_retried_jobs=2",
      ]) {
        const { status, body } = await acmeGet(`/builds?${query}`);
        assert.equal(status, 422, query);
        assert.match(body.message, /^Validation failed: /);
      }
    });
  });

  describe("pipelines", () => {
    it("are listed oldest first, and each can be read", async () => {
      await createPipeline(world.services, world.acme.operator, {
        clusterId: world.acme.cluster.id,
        slug: "api",
        name: "API",
        steps: [{ command: "make" }],
      });

      const list = await acmeGet("/pipelines");
      const one = await acmeGet("/pipelines/web");

      assert.deepEqual(
        list.body.map((each: { slug: string }) => each.slug),
        ["web", "api"],
      );
      assert.deepEqual(one.body, list.body[0]);
      const counts = Object.entries(one.body).filter(([name]) => name.endsWith("_count"));
      assert.equal(counts.length, 5);
      assert.ok(one.body.created_by.id);
      assert.deepEqual(one.body, {
        id: world.acme.pipeline.id,
        graphql_id: Buffer.from(`Pipeline---${world.acme.pipeline.id}`).toString("base64"),
        url: "https://ci.example.com/v2/organizations/acme/pipelines/web",
        web_url: "https://ci.example.com/organizations/acme/pipelines/web",
        name: "Web",
        description: null,
        slug: "web",
        cluster_id: world.acme.cluster.id,
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
        builds_url: "https://ci.example.com/v2/organizations/acme/pipelines/web/builds",
        badge_url: `https://ci.example.com/badges/${world.acme.pipeline.id}.svg`,
        env: {},
        configuration: null,
        steps: [
          {
            type: "script",
            name: null,
            command: "make test",
            artifact_paths: null,
            branch_configuration: null,
            env: {},
            timeout_in_minutes: null,
            agent_query_rules: [],
            concurrency: null,
            parallelism: null,
          },
        ],
        ...Object.fromEntries(counts),
        created_by: one.body.created_by,
        created_at: one.body.created_at,
        archived_at: null,
      });
    });

    it("are 404 when there is no such slug", async () => {
      for (const slug of ["nope", "WEB", "%00", "a%2Fb"]) {
        const { status, body } = await acmeGet(`/pipelines/${slug}`);
        assert.deepEqual([status, body], [404, { message: "No pipeline found" }], slug);
        assert.equal((await acmeGet(`/pipelines/${slug}/builds`)).status, 404);
      }
    });
  });
});

describeOnBothDatabases("the REST rate limit", (database) => {
  it("answers 429 with Retry-After above the limit, counted by token", async () => {
    const world = await startWorld(database, { API_REQUESTS_PER_MINUTE: "5" });
    const acme = await setUpOrganization(world);
    const [one, two] = [await acme.token("read_builds"), await acme.token("read_builds")];
    const read = (token: string) => get(`${world.url}/v2/organizations/acme/builds`, token);

    const answers = [];
    for (let sent = 0; sent < 6; sent++) answers.push(await read(one));

    assert.deepEqual(
      answers.map((answer) => [answer.status, answer.headers.get("ratelimit-remaining")]),
      [..."43210"].map((left) => [200, left] as const).concat([[429, "0"] as never]),
    );
    const { headers, body } = answers[5] as (typeof answers)[number];
    const reset = Number(headers.get("retry-after"));
    assert.ok(reset >= 1 && reset <= 61);
    assert.deepEqual(body, {
      message: `You have exceeded your API rate limit. Please wait ${reset} seconds before making more requests.`,
      scope: "rest",
      limit: 5,
      current: 5,
      reset,
    });
    assert.equal(headers.get("ratelimit-scope"), "rest");
    assert.equal(headers.get("ratelimit-policy"), '"rest";q=5;w=60');
    assert.equal((await read(two)).status, 200);
    await world.close();
  });
});
