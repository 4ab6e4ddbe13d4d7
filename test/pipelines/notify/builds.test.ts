import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { it } from "node:test";
import { asc, eq } from "drizzle-orm";
import { createBuilds } from "../../../shared/builds/making/builds.ts";
import { enterJob } from "../../agents/inside/in-a-job.ts";
import { buildRequest, openApi, unique } from "../../helpers/api.ts";
import { describeWorld } from "../../helpers/databases.ts";

const email = { email: "dev@example.com" };
const noChat = "The organization has no notification service for Slack";
const noHost = "The pipeline has no repository at a host";
const noSmtp = "SMTP is not set: the operator sets SMTP_URL";

describeWorld("the notices of a build", openApi, (api) => {
  const db = () => api.world.services.db;
  const create = async (configuration: string) => {
    const body = { name: unique("Told"), cluster_id: api.acme.cluster.id, configuration };
    const answer = await api.send("POST", "/pipelines", { body });
    assert.equal(answer.status, 201, answer.text);
    return answer.body as { id: string; slug: string };
  };
  const rowOf = async (id: string) => {
    const { builds } = db().tables;
    const [build] = await db().select().from(builds).where(eq(builds.id, id));
    assert.ok(build);
    return build;
  };
  const optionsOf = async (buildId: string) => {
    const { jobs } = db().tables;
    const found = await db().select().from(jobs).where(eq(jobs.buildId, buildId)).orderBy(asc(jobs.position));
    return found.map(({ ownOptions }) => ownOptions);
  };
  const make = async (configuration: string, body: object = {}) => {
    const { slug } = await create(configuration);
    const { body: build } = await api.send("POST", `/pipelines/${slug}/builds`, { body });
    return { slug, build, row: await rowOf(build.id) };
  };

  it("are those of its document, with their variables replaced", async () => {
    const { build, row } = await make(
      `
env: { OWNER: dev }
notify:
  - email: "\${OWNER}@example.com"
    if: build.env("OWNER") == "dev" && build.message !~ /\\$/
  - slack: { channels: [ "#\${BUILDKITE_BRANCH}" ], message: "$OWNER: $$1" }
  - webhook: "$NOWHERE"
  - irc: "#a"
steps: [ { command: make } ]
`,
      { branch: "main" },
    );
    assert.deepEqual(row.notify, [
      { ...email, if: 'build.env("OWNER") == "dev" && build.message !~ /$/' },
      { slack: { channels: ["#main"], message: "dev: $1" } },
    ]);
    assert.equal(row.tellsOfJobs, false);
    const member = "notify";
    assert.deepEqual(build.warnings, [
      { step: null, member, reason: 'Nothing is sent to "irc", which is no kind of notice here' },
      { step: null, member, reason: noSmtp },
      { step: null, member, reason: noChat },
      {
        step: null,
        member,
        reason: "webhook must be an address that begins with https:// or http://, without a user name",
      },
    ]);
  });

  it("are none, if nobody hears of it", async () => {
    const { row } = await make("steps: [ { command: make } ]");
    assert.deepEqual([row.notify, row.tellsOfJobs], [null, false]);
  });

  it("are the same for builds that are made together", async () => {
    const { id } = await create(
      'notify: [ { email: dev@example.com } ]\nsteps: [ { command: make, notify: [ { slack: "#a" } ] } ]',
    );
    const requests = [buildRequest(id), buildRequest(id)];
    const { services } = api.world;
    const made = await db().transaction((tx) => createBuilds(tx, services, requests, services.clock.now()));
    for (const build of made.builds) {
      const { notify, tellsOfJobs } = await rowOf(build.id);
      assert.deepEqual([notify, tellsOfJobs], [[email], true]);
    }
  });

  it("of its steps are kept by their jobs, once for a step, and those of a group by its first job", async () => {
    const { row, build } = await make(
      `
steps:
  - command: a
    parallelism: 2
    notify: [ { slack: "#$BUILDKITE_BRANCH", if: step.outcome == "hard_failed" } ]
  - command: "m {{matrix}}"
    matrix: [ x, y ]
    notify: [ { github_commit_status: { context: "ci {{matrix}}" } } ]
  - group: G
    notify: [ github_check ]
    steps: [ b, { command: c } ]
`.replace("[ b,", "[ { command: b },"),
      { branch: "main" },
    );
    assert.equal(row.tellsOfJobs, true);
    assert.equal(row.notify, null);
    const options = await optionsOf(row.id);
    assert.deepEqual(
      options.map((each) => each?.notify),
      [
        [{ slack: "#main", if: 'step.outcome == "hard_failed"' }],
        undefined,
        [{ github_commit_status: { context: "ci x" } }],
        [{ github_commit_status: { context: "ci y" } }],
        undefined,
        undefined,
      ],
    );
    assert.deepEqual(
      options.map((each) => each?.group?.notify),
      [undefined, undefined, undefined, undefined, [{ github_check: {} }], undefined],
    );
    assert.deepEqual(
      build.warnings.map(({ reason }: { reason: string }) => reason),
      [noChat, noHost, noHost],
    );
  });

  it("grow with uploads, which keep those that are there, and are bounded", async () => {
    const { send, job, buildId, build } = await enterJob(api, { command: "first" });
    const upload = (pipeline: object) =>
      send("POST", `/jobs/${job}/pipelines`, { uuid: randomUUID(), pipeline });

    const first = await upload({ notify: [email], steps: [{ command: "a" }] });
    assert.deepEqual(first.body.warnings, [{ step: null, member: "notify", reason: noSmtp }]);
    assert.deepEqual([(await rowOf(buildId)).notify, (await rowOf(buildId)).tellsOfJobs], [[email], false]);
    const ofStep = { command: "b", label: "B", notify: [{ slack: "#b" }] };
    assert.equal((await upload({ notify: [{ slack: "#a" }], steps: [ofStep] })).status, 200);
    assert.deepEqual((await rowOf(buildId)).notify, [email, { slack: "#a" }]);
    assert.equal((await rowOf(buildId)).tellsOfJobs, true);
    assert.deepEqual(
      (await build()).warnings.map(({ step, reason }: Record<string, string>) => `${step} ${reason}`),
      [`null ${noSmtp}`, `null ${noChat}`, `B ${noChat}`],
    );

    const wrong = await upload({ notify: [{ email: "nobody" }], steps: [] });
    assert.deepEqual([wrong.status, wrong.body.message], [422, "notify: email must be one email address"]);
    const large = Array.from({ length: 5 }, () => ({
      slack: { channels: ["#a"], message: "x".repeat(3000) },
    }));
    for (let times = 0; times < 4; times++)
      assert.equal((await upload({ notify: large, steps: [] })).status, 200);
    const tooMuch = await upload({ notify: large, steps: [] });
    assert.deepEqual(
      [tooMuch.status, tooMuch.body.message],
      [422, "The notices of the build would be larger than 64 KB"],
    );
  });

  it("of steps in a group that an upload adds are the group's own no second time", async () => {
    const { send, job, buildId, key, newAgent, finish } = await enterJob(api, { command: "first" });
    const steps = [{ group: "G", notify: ["github_check"], steps: [{ command: "second" }] }];
    const pipeline = { agents: { queue: key }, steps };
    await send("POST", `/jobs/${job}/pipelines`, { uuid: randomUUID(), pipeline });
    await finish();
    const agent = await newAgent();
    const second = (await agent.offered()) as string;
    const { token } = await agent.begin(second);
    const more = { uuid: randomUUID(), pipeline: [{ command: "third" }] };
    assert.equal((await agent.send("POST", `/jobs/${second}/pipelines`, more, token)).status, 200);
    const options = await optionsOf(buildId);
    assert.deepEqual(
      options.map((each) => [each?.group?.label, each?.group?.notify]),
      [
        [undefined, undefined],
        ["G", [{ github_check: {} }]],
        ["G", undefined],
      ],
    );
  });

  it("that a job sets are its step's from then on", async () => {
    const { update, buildId, get } = await enterJob(api, { command: "a", key: "a" });
    assert.equal((await rowOf(buildId)).tellsOfJobs, false);
    assert.equal((await update("a", "notify", '[{"slack":"#a"}]')).status, 200);
    assert.equal((await rowOf(buildId)).tellsOfJobs, true);
    assert.deepEqual((await optionsOf(buildId))[0]?.notify, [{ slack: "#a" }]);
    assert.deepEqual(JSON.parse(await get("a", "notify", { format: "json" })), [{ slack: "#a" }]);
    for (const [value, message] of [
      ['[{"irc":"#a"}]', 'Nothing is sent to "irc", which is no kind of notice here'],
      ['[{"email":"a@example.com"}]', "email is for builds: write it in the notify beside steps"],
      [
        '[{"slack":"#a","if":"build.state"}]',
        "notify[0].if: build.state cannot be used here, at line 1, column 1",
      ],
      [
        '[{"slack":"a b"}]',
        "notify: slack must name channels: #name, workspace#name, @name, workspace@name or an id",
      ],
    ] as const) {
      const answer = await update("a", "notify", value);
      assert.deepEqual([answer.status, answer.body.message], [400, message]);
    }
  });
});
