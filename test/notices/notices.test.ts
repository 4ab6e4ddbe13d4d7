import assert from "node:assert/strict";
import { afterEach, it, type MockTracker } from "node:test";
import { minuteMs } from "../../shared/durations.ts";
import { memoryRateLimiter } from "../../shared/redis/memory-rate-limiter.ts";
import { describeWorld } from "../helpers/databases.ts";
import { openNotices } from "./open-notices.ts";

describeWorld("notices", openNotices, (world) => {
  /** The steps of a pipeline whose document has these notices. */
  const newPipeline = async (notify: object[], steps: object[] = [{ command: "make" }]): Promise<string> =>
    world.newPipeline([], { steps: undefined, configuration: JSON.stringify({ notify, steps }) });
  const at = (path: string) => `${world.receivers.url}/${path}`;
  const texts = () => world.receivers.take().map(({ path, body }) => `${path}: ${body.text}`);
  const heads = () => world.receivers.take().map(({ path, body }) => `${path}: ${body.text.split("\n")[0]}`);
  const mails = () => (world.mail.count() === 0 ? [] : world.mail.take());
  const subjects = () =>
    mails().map(({ to, headers }) => `${to}: ${headers.subject?.replace("Pipeline", "pipeline")}`);

  afterEach(async () => {
    await world.drain();
    await world.tell();
    world.receivers.take();
    mails();
    await world.removeChats();
  });

  it("by mail tell of a build that fails and ends, if their condition holds", async () => {
    const slug = await newPipeline([
      { email: "dev@example.com", if: 'build.state == "failed"' },
      { email: "all@example.com" },
      { email: "never@example.com", if: "build.state == 'failed' && build.branch == 'other'" },
    ]);
    await world.report(slug);
    await world.tell();
    assert.deepEqual(subjects(), []);
    await world.run();
    await world.tell();
    assert.deepEqual(subjects(), [`all@example.com: Passed: ${slug} #1 (main)`]);

    await world.report(slug);
    await world.run(1);
    await world.tell();
    assert.deepEqual(subjects().sort(), [
      `all@example.com: Failed: ${slug} #2 (main)`,
      `dev@example.com: Failed: ${slug} #2 (main)`,
    ]);
  });

  it("tell of a build that is failing, and once more when it has ended", async () => {
    const slug = await newPipeline([{ email: "dev@example.com" }], [{ command: "a" }, { command: "b" }]);
    await world.report(slug);
    await world.run(1);
    await world.tell();
    assert.deepEqual(subjects(), [`dev@example.com: Failing: ${slug} #1 (main)`]);
    await world.run();
    await world.tell();
    assert.deepEqual(subjects(), [`dev@example.com: Failed: ${slug} #1 (main)`]);

    await world.report(slug);
    await world.run(1);
    await world.run();
    await world.tell();
    assert.deepEqual(
      subjects(),
      [`dev@example.com: Failed: ${slug} #2 (main)`],
      "once, if nobody heard between",
    );
  });

  it("know if the branch started to fail, or to pass", async () => {
    const slug = await newPipeline([
      { email: "failing@example.com", if: "pipeline.started_failing" },
      { email: "passing@example.com", if: "pipeline.started_passing" },
      { email: "fixed@example.com", if: "build.fixed" },
      { email: "either@example.com", if: "build.state == failed || pipeline.started_passing" },
    ]);
    const heard: string[][] = [];
    for (const exitStatus of [1, 0, 1, 1, 0, 0]) {
      await world.report(slug);
      await world.run(exitStatus);
      await world.tell();
      heard.push(
        mails()
          .map(({ to }) => to.join().replace("@example.com", ""))
          .sort(),
      );
    }
    const passing = ["either", "fixed", "passing"];
    assert.deepEqual(heard, [["either"], passing, ["either", "failing"], ["either"], passing, []]);
  });

  it("by webhook tell of each event, in order, with the build as its state is", async () => {
    const slug = await newPipeline(
      [{ webhook: at("webhook/a") }],
      [{ command: "a" }, { block: "Go" }, { command: "b" }],
    );
    const path = await world.report(slug);
    await world.tell();
    await world.run();
    await world.tell();
    const { jobs } = await world.must("GET", path);
    await world.must("PUT", `${path}/jobs/${jobs[1].id}/unblock`, { body: {} });
    await world.run();
    await world.tell();

    const received = world.receivers.take();
    assert.deepEqual(
      received.map(({ headers, body }) => [
        headers["x-buildkite-event"],
        body.event,
        body.build.blocked,
        body.build.state,
      ]),
      [
        ["build.scheduled", "build.scheduled", false, "scheduled"],
        ["build.running", "build.running", true, "passed"],
        ["build.finished", "build.finished", true, "passed"],
        ["build.finished", "build.finished", false, "passed"],
      ],
    );
    assert.equal(received[0]?.body.pipeline.slug, slug);
    assert.doesNotMatch(
      JSON.stringify(
        await world
          .messages()
          .then((all) => all.map(({ answer, request, receiver }) => [answer, request, receiver])),
      ),
      /webhook\/a/,
    );
  });

  const isCalledByConditions = ({ stack = "" }: Error): boolean =>
    stack
      .split("\n")
      .slice(1)
      .find((frame) => !/node:|notices[.]test/.test(frame))
      ?.includes("notices/conditions") === true;
  /** Makes the time pass at each look of conditions at the clock. @returns the number of looks */
  const slowDown = (mock: MockTracker): (() => number) => {
    const now = performance.now.bind(performance);
    let looks = 0;
    mock.method(performance, "now", () => (isCalledByConditions(new Error()) ? ++looks * 200 : now()));
    return () => looks;
  };

  it("are all told of, however long their conditions take together", async ({ mock }) => {
    const slug = await newPipeline([{ webhook: at("webhook/a"), if: "build.state == 'passed'" }]);
    for (const message of ["1", "2", "3"]) await world.report(slug, { message });
    for (let run = 0; run < 3; run++) await world.run();
    const countLooks = slowDown(mock);

    await world.tell();

    mock.restoreAll();
    assert.ok(countLooks() > 3);
    assert.deepEqual(
      world.receivers
        .take()
        .map(({ body }) => body.build.number)
        .sort(),
      [1, 2, 3],
    );
  });

  it("are told of, however long the conditions of one build take", async ({ mock }) => {
    const names = ["a", "b", "c"];
    const slug = await newPipeline(
      names.map((name) => ({ webhook: at(`webhook/${name}`), if: "build.state == 'passed'" })),
    );
    await world.report(slug);
    await world.run();
    const countLooks = slowDown(mock);

    await world.tell();

    mock.restoreAll();
    assert.ok(countLooks() > 3);
    assert.deepEqual(
      world.receivers
        .take()
        .map(({ path }) => path)
        .sort(),
      names.map((name) => `webhook/${name}`),
    );
  });

  it("reach Basecamp as HTML", async () => {
    const slug = await newPipeline([{ basecamp_campfire: at("campfire/1"), if: "build.state == 'passed'" }]);
    await world.report(slug, { message: "<b>a</b>" });
    await world.run();
    await world.tell();
    const [received] = world.receivers.take();
    assert.match(
      received?.body.content,
      /^<b><a href="[^"]+\/builds\/1">.* #1<\/a><\/b> passed<br>main · d670460 · &lt;b&gt;a&lt;\/b&gt;$/,
    );
  });

  it("reach the chats of the named channels, or all with a note", async () => {
    await world.addChat("builds", "#builds");
    await world.addChat("other", "other");
    await world.addChat("none", null);
    await world.addChat("off", "#builds", { enabled: false });
    const message = "Look, <@U024BE7LH> and <!channel>";
    const slug = await newPipeline([
      { slack: "acme#builds", if: "build.message == '1'" },
      { slack: { channels: ["#builds", "#other"], message }, if: "build.message == '2'" },
      { slack: "#elsewhere", if: "build.message == '3'" },
    ]);
    for (const number of ["1", "2", "3"]) {
      await world.report(slug, { message: number });
      await world.run();
    }
    await world.tell();

    const received = texts();
    const of = (number: number) => received.filter((text) => text.includes(`#${number}>`));
    assert.deepEqual(
      of(1).map((text) => text.split(":")[0]),
      ["chat/builds"],
    );
    assert.deepEqual(
      of(2)
        .map((text) => text.split(":")[0])
        .sort(),
      ["chat/builds", "chat/other"],
    );
    for (const text of of(2)) assert.match(text, /: Look, <@U024BE7LH> and &lt;!channel&gt;\n/);
    assert.equal(of(3).length, 3);
    for (const text of of(3)) assert.match(text, /_No notification service has the channel #elsewhere_$/);
    assert.equal(received.length, 6);
  });

  it("reach the chat of a person, whatever workspace they name", async () => {
    await world.addChat("ada", "@ada");
    await world.addChat("other", "ada");
    const slug = await newPipeline([{ slack: "acme@ada" }]);
    await world.report(slug);
    await world.run();
    await world.tell();
    assert.deepEqual(
      world.receivers.take().map(({ path }) => path),
      ["chat/ada"],
    );
  });

  it("of a step tell once that it fails, and once that it ended", async () => {
    await world.addChat("builds", null);
    const slug = await world.newPipeline([
      {
        label: "Test",
        key: "test",
        command: "test",
        parallelism: 3,
        soft_fail: [2],
        notify: [{ slack: "#a" }, { slack: "#b", if: "step.outcome == 'hard_failed' && step.key == 'test'" }],
      },
    ]);
    await world.report(slug);
    await world.run(1);
    await world.tell();
    assert.equal(heads().length, 1, "failing");
    await world.run(1);
    await world.tell();
    assert.deepEqual(heads(), []);
    await world.run();
    await world.tell();
    const ended = heads();
    assert.equal(ended.length, 2);
    for (const text of ended) assert.match(text, /:x: \*<[^|]+\|Test> of <[^|]+\|.* #1>\* failed$/);
  });

  it("of a step tell nothing of what is retried, and of its last end", async () => {
    await world.addChat("builds", null);
    const slug = await world.newPipeline([
      { command: "test", retry: { automatic: true }, notify: [{ slack: "#a" }] },
    ]);
    await world.report(slug);
    await world.run(1);
    await world.tell();
    assert.deepEqual(heads(), []);
    await world.run();
    await world.tell();
    const [text, ...more] = heads();
    assert.match(text ?? "", /passed$/);
    assert.deepEqual(more, []);
  });

  it("of a matrix tell of each job if they name its values, else of the step", async () => {
    await world.addChat("builds", null);
    const matrix = ["x", "y"];
    const slug = await world.newPipeline([
      { label: "One {{matrix}}", command: "a", matrix, notify: [{ slack: "#a" }] },
      {
        label: "Each {{matrix}}",
        command: "b",
        matrix,
        notify: [{ slack: { channels: ["#a"], message: "{{matrix}}!" } }],
      },
    ]);
    await world.report(slug);
    await world.drain();
    await world.tell();
    const received = texts();
    assert.deepEqual(received.map((text) => /(One|Each) \w/.exec(text)?.[0]).sort(), [
      "Each x",
      "Each y",
      "One y",
    ]);
    for (const value of matrix)
      assert.ok(received.some((text) => text.startsWith(`chat/builds: ${value}!\n`)));
  });

  it("of a group tell when its last step ended", async () => {
    await world.addChat("builds", null);
    const slug = await world.newPipeline([
      {
        group: "Tests",
        notify: [{ slack: "#a", if: "step.type == 'group'" }],
        steps: [{ command: "a" }, { command: "b", parallelism: 2 }],
      },
      { command: "last" },
    ]);
    await world.report(slug);
    for (const _ of [1, 2]) await world.run();
    await world.tell();
    assert.deepEqual(heads(), []);
    await world.run();
    await world.tell();
    const [text, ...more] = heads();
    assert.match(text ?? "", /\|Tests> of <.*passed$/);
    assert.deepEqual(more, []);
  });

  it("of builds of forks are those of stored steps alone", async () => {
    await world.addChat("builds", null);
    const slug = await newPipeline([{ slack: "#stored" }]);
    const path = await world.report(slug, { options: { is_fork: true } });
    const taken = await world.take();
    const pipeline = { notify: [{ slack: "#a" }], steps: [{ command: "b", notify: [{ slack: "#b" }] }] };
    const { body } = await world.call("POST", `/jobs/${taken.job}/pipelines`, taken, {
      uuid: crypto.randomUUID(),
      pipeline,
    });
    const reason = "The build comes from a fork: only the notices of stored steps are sent";
    assert.deepEqual(body.warnings, [{ step: null, member: "notify", reason }]);
    await world.finish(taken);
    await world.drain();
    await world.tell();
    assert.deepEqual((await world.must("GET", path)).state, "passed");
    const received = texts();
    assert.equal(received.length, 1);
    assert.match(received[0] ?? "", /#stored/);
  });

  it("wait above the mails of an hour, and say so", async () => {
    const slug = await newPipeline([{ email: "many@example.com" }]);
    for (let number = 1; number <= 52; number++) {
      await world.report(slug);
      await world.run();
    }
    // In Redis, hours are those of its own clock.
    const rateLimiter = memoryRateLimiter(world.services.clock);
    await world.tell({ rateLimiter });
    const numbers = () => mails().map(({ headers }) => Number(/#(\d+)/.exec(headers.subject ?? "")?.[1]));
    const first = numbers();
    assert.equal(first.length, 50);
    const { db } = world.services;
    const [receiver] = await db.select().from(db.tables.outboxReceivers);
    assert.match(receiver?.problem ?? "", /MAILS_PER_HOUR/);
    assert.equal(receiver?.failingSince, null, "it is no failure");

    world.api.world.clock.advance(62 * minuteMs);
    await world.tell({ rateLimiter });
    const rest = numbers();
    assert.equal(rest.length, 2, "they are sent once the hour has passed");
    const all = Array.from({ length: 52 }, (_, index) => index + 1);
    assert.deepEqual(
      [...first, ...rest].sort((one, other) => one - other),
      all,
      "each once",
    );
  });
});
