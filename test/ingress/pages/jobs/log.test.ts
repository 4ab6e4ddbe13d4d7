import assert from "node:assert/strict";
import { it } from "node:test";
import { eq } from "drizzle-orm";
import { createBuildByHand } from "../../../../shared/builds/making/by-request.ts";
import { createPipeline } from "../../../../shared/pipelines/pipelines.ts";
import type { JobState } from "../../../../shared/vocabulary.ts";
import { leaseJob, newJob } from "../../../agents/logs/jobs-with-logs.ts";
import { describeWorld } from "../../../helpers/databases.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

const red = (text: string) => `\x1b[31m${text}\x1b[0m`;
const at = (second: number) => `\x1b_bk;t=${Date.UTC(2026, 10, 21, 16, 12, 0) + second * 1000}\x07`;

describeWorld("the log of a job, without scripts", startQueuePages, (pages) => {
  const logged = async (text: string, state: JobState = "failed") => {
    const made = await newJob(pages.services, pages.acme);
    const job = await leaseJob(pages.services, made);
    await job.log(text);
    if (state !== "running") await job.finish(state);
    return made.page;
  };
  const open = async (path: string, query = "") => {
    const { status, text } = await pages.asAda.get(`${path}${query && `?${query}`}`);
    assert.equal(status, 200);
    return text;
  };
  const named = (html: string) =>
    [...html.matchAll(/<(?:p|details) id="L(\d+)"(?: open)? class="[^"]*marked/g)].map(([, line]) =>
      Number(line),
    );
  const hrefOf = (html: string, pattern: RegExp) => {
    const [, href = ""] = pattern.exec(html) ?? [];
    assert.notEqual(href, "", String(pattern));
    return href.replaceAll("&amp;", "&").split("?")[1]?.split("#")[0] as string;
  };
  const first = (html: string) => Number(/<(?:p|details) id="L(\d+)"/.exec(html)?.[1]);

  const tests = (lines: number, failing: number) =>
    Array.from({ length: lines }, (_, index) => (index === failing ? red("✗ broken") : `test ${index}`));
  const large = [
    "--- Installing",
    ...tests(2000, 10),
    "+++ Testing",
    ...tests(18_000, 11_000),
    red("exit status 1"),
    "~~~ Uploading",
    "done",
    "",
  ].join("\n");
  const failedAt = 1 + 2000 + 1 + 11_001;

  it("links ranges of lines, from either end", async () => {
    const path = await logged("line\n".repeat(20_000));
    const lines = Array.from({ length: 10 }, (_, index) => 13_351 + index);

    assert.deepEqual(named(await open(path, "line=13351-13360&attempt=1")), lines);
    assert.deepEqual(named(await open(path, "line=13360-13351&attempt=1")), lines);
    assert.deepEqual(named(await open(path, "line=13351&attempt=1")), [13_351]);
    assert.deepEqual(named(await open(path, "line=13351-&attempt=1")), [], "it is no range");
  });

  it("opens the group that a range is in", async () => {
    const path = await logged("--- One\na\nb\n--- Two\nc\nd\n--- Three\ne\n--- Four\n", "passed");
    assert.match(
      await open(path, "line=3-5"),
      /<details id="L1" open.*<details id="L4" open.*<details id="L7">/s,
    );
  });

  it("opens a failure at its first red line, in its group", async () => {
    const html = await open(await logged(large));

    assert.deepEqual(named(html), [failedAt]);
    assert.match(html, /class="continued" data-group="2002"><summary>.*?Testing/);
    assert.ok(failedAt - first(html) <= 10);
    assert.match(html, /href="[^"]*\?line=12&amp;attempt=1#L12">First error/);
  });

  it("opens a failure without red at its last group, a success at its beginning, and others at the end", async () => {
    const plain = ["--- One", ...tests(9000, -1), "--- Two", ...tests(9000, -1), ""].join("\n");
    assert.deepEqual(named(await open(await logged(plain))), [9002]);
    const passed = await open(await logged(plain, "passed"));
    assert.deepEqual([named(passed), first(passed)], [[], 1]);
    assert.doesNotMatch(passed, /First error/);
    assert.match(await open(await logged(plain, "running")), /id="L18002"/);
    assert.match(await open(await logged(large), "end=1"), /id="L20005"/);
  });

  it("searches the whole log, and leads from hit to hit", async () => {
    const path = await logged(large);
    const html = await open(path, "find=TEST+1500&attempt=1");
    const hits = [1502, 3503, 17_003, 17_004, 17_005, 17_006, 17_007, 17_008, 17_009, 17_010, 17_011, 17_012];

    assert.match(html, /data-hits="1502 3503 17003/);
    assert.match(html, />1 of 12</);
    assert.deepEqual(named(html), [1502]);
    assert.match(html, /<mark>test 1500<\/mark>/);
    assert.match(html, /<input type="search"[^>]* value="TEST 1500"/);
    let place = hrefOf(html, /<a rel="next" href="([^"]*)"/);
    for (const [index, line] of [...hits.slice(1), 1502].entries()) {
      const next = await open(path, place);
      assert.deepEqual(named(next), [line]);
      assert.match(next, new RegExp(`>${((index + 1) % 12) + 1} of 12<`));
      place = hrefOf(next, /<a rel="next" href="([^"]*)"/);
    }
    assert.match(await open(path, "find=nowhere"), /role="status">None</);
    assert.match(hrefOf(html, /<a href="([^"]*)">Earlier</), /find=TEST/, "pages keep the search");
  });

  it("marks hits across colors, addresses and places in files", async () => {
    const html = await open(
      await logged(
        `see https://example.com/a?b=1. and (http://b.example/)\nat src/cart.ts:12:7 x\n\x1b[1mbo\x1b[0mld one:1\n`,
        "passed",
      ),
      "find=bold",
    );
    assert.match(html, /<a href="https:\/\/example.com\/a\?b=1" rel="[^"]*">https:[^<]*b=1<\/a>\. and \(<a /);
    assert.match(html, /<span class="place">src\/cart.ts:12:7<\/span> x/);
    assert.match(html, /<mark class="bold">bo<\/mark><mark>ld<\/mark> one:1/);
  });

  it("lists groups with their durations, and marks those with red lines", async () => {
    const log = `${at(0)}--- One\n${at(1)}a\n${at(65)}+++ Two\n${at(66)}${red("no")}\n${at(70)}--- Three\n${at(72)}x\n`;
    const html = await open(await logged(log));

    assert.deepEqual(
      [
        ...html.matchAll(
          /<span class="dot( red)?"><\/span>.*?"title">(\w+)<\/span><span class="quiet">([^<]*)/g,
        ),
      ].map(([, isRed, title, took]) => [title, took, isRed !== undefined]),
      [
        ["One", "1 min 5 s", false],
        ["Two", "5 s", true],
        ["Three", "2 s", false],
      ],
    );
    assert.match(html, /<summary><span class="number">1<\/span><time data-since="0:00">16:12:00<\/time>One/);
    assert.match(html, /<time data-since="1:06">16:13:06<\/time><span class="fg1">no/);
    assert.match(html, /<rect class="red"[^>]* data-line="4"/);
  });

  it("shows times of arrival if the agent sends none", async () => {
    const made = await newJob(pages.services, pages.acme);
    const job = await leaseJob(pages.services, made);
    await job.send(1, 0, "--- One\na\n");
    pages.clock.advance(65_000);
    await job.send(2, 10, "--- Two\nb\n");
    await job.finish();
    const times = (html: string) =>
      [...html.matchAll(/<time data-since="([^"]+)">/g)].map(([, since]) => since);

    const html = await open(made.page);
    assert.deepEqual(times(html), ["0:00", "0:00", "1:05", "1:05"]);
    assert.match(html, /title="Times of arrival[^"]*">Times/);
    assert.match(html, /"title">One<\/span><span class="quiet">1 min 5 s/);

    const old = await newJob(pages.services, pages.acme);
    await (await leaseJob(pages.services, old)).log("--- One\na\n");
    const { jobLogChunks } = pages.services.db.tables;
    await pages.services.db.transaction((tx) =>
      tx.update(jobLogChunks).set({ arrivedAt: null }).where(eq(jobLogChunks.jobId, old.id)),
    );
    assert.deepEqual(times(await open(old.page)), [], "stored before arrivals were");
  });

  it("keeps in all links to lines how times are shown", async () => {
    const path = await logged("line\n".repeat(20_000));
    const html = await open(path, "line=13351&attempt=1&times=clock");

    assert.match(html, /<option value="clock" selected>/);
    assert.match(html, /href="\?line=13351&amp;attempt=1&amp;times=clock#L13351"/);
    assert.match(hrefOf(html, /<a href="([^"]*)">Earlier</), /times=clock/);
    const form = /<form class="times".*?<\/form>/s.exec(html)?.[0] ?? "";
    assert.match(form, /name="attempt" value="1".*name="line" value="13351".*<noscript><button/s);
    assert.doesNotMatch(await open(path, "times=x"), /times=x/);
  });

  it("shows the command as it was written, and the jobs of the build, failed ones first", async () => {
    const { services, actor, acme, paths } = pages;
    const command = "set -e\nmake test\nmake lint";
    const steps = [{ command: "first" }, { command, label: "Tests" }, { command: "third" }];
    const pipeline = await createPipeline(services, actor, {
      clusterId: acme.cluster.id,
      name: "many",
      steps,
    });
    const build = await createBuildByHand(services, actor, pipeline, {});
    const { jobs } = services.db.tables;
    const rows = await services.db.select({ id: jobs.id, label: jobs.ownLabel }).from(jobs);
    const job = rows.find(({ label }) => label === "Tests");
    assert.ok(job && build);
    const leased = await leaseJob(services, { id: job.id, organizationId: acme.id });
    await leased.finish("failed");

    const html = await open(`${paths.pipelines}/many/builds/1/jobs/${job.id}`);

    assert.match(html, /<summary>.*?<code>set -e<\/code><\/summary><pre>set -e\nmake test\nmake lint<\/pre>/);
    const [list = ""] = /<nav class="siblings".*?<\/nav>/s.exec(html) ?? [];
    const names = [...list.matchAll(/<span class="name">([^<]*)/g)].map(([, name]) => name);
    assert.deepEqual(names, ["Tests", "first", "third"]);
    assert.match(list, /aria-current="page"><svg/);
  });

  it("numbers the attempts of a job and of its retries", async () => {
    const made = await newJob(pages.services, pages.acme);
    for (const attempt of [1, 2]) {
      const job = await leaseJob(pages.services, { ...made, attempt });
      await job.log(`attempt ${attempt}\n`);
      if (attempt === 2) await job.finish("failed");
    }
    const texts = async (path: string, query = "") =>
      [
        ...(await open(path, query)).matchAll(
          /<a href="[^"]*\/jobs\/([^"?]*)\?attempt=(\d)"( aria-current="page")? title/g,
        ),
      ].map(([, id, attempt, isPresent]) => [id === made.id, Number(attempt), isPresent !== undefined]);

    assert.deepEqual(await texts(made.page), [
      [true, 1, false],
      [true, 2, true],
    ]);
    assert.equal((await pages.asAda.post(`${made.page}/retry`, {})).status, 303);
    const { jobs } = pages.services.db.tables;
    const [retry] = await pages.services.db.select().from(jobs).where(eq(jobs.retryOfJobId, made.id));
    assert.ok(retry);
    await leaseJob(pages.services, { ...made, id: retry.id });
    const all = (present: number) =>
      [1, 2, 1].map((attempt, index) => [index < 2, attempt, index === present]);
    assert.deepEqual(await texts(made.page), all(1));
    assert.deepEqual(await texts(made.page, "attempt=1"), all(0));
    assert.deepEqual(await texts(made.page.replace(made.id, retry.id)), all(2));
  });
});
