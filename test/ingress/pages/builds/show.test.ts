import assert from "node:assert/strict";
import { before, it } from "node:test";
import { asc, eq } from "drizzle-orm";
import { spans } from "../../../../ingress/pages/builds/timeline.tsx";
import { createBuildByHand } from "../../../../shared/builds/making/by-request.ts";
import { archivePipeline } from "../../../../shared/pipelines/archive.ts";
import type { PipelineChange } from "../../../../shared/pipelines/input.ts";
import { createPipeline, updatePipeline } from "../../../../shared/pipelines/pipelines.ts";
import { buildWebhook } from "../../../helpers/builds.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { startQueuePages } from "../../../helpers/pages.ts";
import {
  failedBuild,
  failedJobs,
  makeTimedBuild,
  passedBuild,
  passedJobs,
  runningBuild,
  runningJobs,
  type TimedBuild,
} from "./timed-builds.ts";

const maxPageBytes = 400_000;

describeWorldOn(sqlite, "the page of a build", startQueuePages, (pages) => {
  let builds = 0;

  before(() => pages.clock.freeze());

  const make = async (given: Omit<TimedBuild, "name" | "clusterId">) => {
    const name = `timed-${++builds}`;
    const build = await makeTimedBuild(pages, pages.actor, {
      clusterId: pages.acme.cluster.id,
      name,
      ...given,
    });
    return { ...build, path: `${pages.paths.pipelines}/${name}/builds/1` };
  };
  const textOf = (html: string) =>
    html
      .replace(/^.*<main/s, "")
      .replace(/<[^>]*>/g, " ")
      .replace(/\s+/g, " ");
  const headlineOf = async (path: string) => {
    const [, headline = ""] =
      /<span class="headline">(.*?)<\/span><\/span>/.exec((await pages.asBob.get(path)).text) ?? [];
    return headline.replace(/<[^>]*>/g, "").replaceAll("\u00a0", " ");
  };
  const jobsOf = async (buildId: string) => {
    const { db } = pages.services;
    const { jobs } = db.tables;
    return db
      .select()
      .from(jobs)
      .where(eq(jobs.buildId, buildId))
      .orderBy(asc(jobs.position), asc(jobs.retriesCount));
  };

  it("says in one line how long the build ran and waited", async () => {
    const jobs = passedJobs;
    const headlines = {
      "Passed in 4 min 12 s · waited 35 s": { ...passedBuild, jobs },
      "Failed after 3 min 15 s · waited 35 s": { ...failedBuild, jobs },
      "Running for 1 min 30 s · waited 35 s": { ...runningBuild, jobs },
      "Failing, running for 1 min 30 s · waited 35 s": { ...runningBuild, state: "failing", jobs },
      "Canceling, running for 1 min 30 s · waited 35 s": { ...runningBuild, state: "canceling", jobs },
      "Canceled after 3 min 15 s · waited 35 s": { ...failedBuild, state: "canceled", jobs },
      "Never ran · waited 20 s": { state: "canceled", secondsAgo: 100, finishedAfter: 20, jobs },
      "Failed after less than 1 s · waited less than 1 s": {
        ...failedBuild,
        startedAfter: 0.2,
        finishedAfter: 0.9,
        jobs,
      },
      "Waiting for 1 min 40 s": { state: "scheduled", secondsAgo: 100, jobs },
    } as const;
    for (const [headline, build] of Object.entries(headlines))
      assert.equal(await headlineOf((await make({ ...build, jobs: [...jobs] })).path), headline);
  });

  it("has the time that each job ran or waits, and its place in the build", async () => {
    const passed = await make({ ...passedBuild, jobs: passedJobs });
    const running = await make({ ...runningBuild, jobs: runningJobs });

    const { text } = await pages.asBob.get(passed.path);
    assert.match(textOf(text), /Unit tests passed default 2 min 10 s/);
    assert.match(text, /aria-label="From 3 min 50 s to 4 min 47 s after the build began"/);
    const now = textOf((await pages.asBob.get(running.path)).text);
    assert.match(now, /Unit tests running .* 1 min 5 s .* Tests in a browser scheduled .* waits 2 min 5 s/);
  });

  it("has bars on one scale, in parts of a day", async () => {
    const { path } = await make({ ...passedBuild, jobs: passedJobs });

    const { text } = await pages.asBob.get(path);

    const bars = [...text.matchAll(/<rect class="(\w+)" x="([\d.]+)%" width="([\d.]+)%"/g)];
    const seconds = (percent = "") => Math.round(Number(percent) * 864);
    assert.deepEqual(
      bars.map(([, kind, x, width]) => `${kind} ${seconds(x)} ${seconds(width)}`),
      [
        ...["wait 0 35", "passed 35 23", "wait 0 36", "passed 36 45", "wait 0 60", "passed 60 130"],
        ...["wait 0 84", "passed 84 146", "wait 230 8", "passed 238 49"],
      ],
    );
    assert.match(text, /<ol class="jobs span-300"/);
    assert.match(text, /<text [^>]*>2 min<\/text>/);
    const css = await pages.asBob.get("/assets/style.css");
    for (const span of spans) assert.match(css.text, new RegExp(`\\.span-${span} \\{\\s+--span: ${span};`));
  });

  it("has the jobs of one state, and those of a name", async () => {
    const { path } = await make({ ...failedBuild, jobs: failedJobs });
    const jobsOn = async (query: string) => {
      const { text } = await pages.asBob.get(`${path}?${query}`);
      return [...text.matchAll(/<span class="what"><a [^>]*>([^<]*)</g)].map(([, title]) => title);
    };

    const { text } = await pages.asBob.get(path);

    assert.match(textOf(text), /All 5 Failed 2 Canceled 1 Passed 2/);
    assert.deepEqual(await jobsOn("state=failed"), ["Unit tests", "Tests in a browser"]);
    assert.deepEqual(await jobsOn("state=passed"), ["Lint", "Types"]);
    assert.deepEqual(await jobsOn("name=tests"), ["Unit tests", "Tests in a browser"]);
    assert.deepEqual(await jobsOn("state=failed&name=unit"), ["Unit tests"]);
    assert.deepEqual(await jobsOn("name=%25"), []);
    assert.equal((await jobsOn("state=unknown")).length, 5);
  });

  it("has jobs of a matrix in one row once all have passed", async () => {
    const matrix = { setup: ["18", "20", "22"] };
    const step = { label: "Test on {{matrix}}", command: "make", matrix };
    const times = { scheduledAfter: 0, startedAfter: 35, finishedAfter: 58 };
    const { id, path } = await make({ ...passedBuild, jobs: [{ step, state: "passed", ...times }] });
    const rows = async () => {
      const { text } = await pages.asBob.get(path);
      return { text: textOf(text), folds: text.match(/<li class="folded/g)?.length ?? 0 };
    };
    assert.deepEqual((await rows()).folds, 0);

    const { db } = pages.services;
    const { jobs } = db.tables;
    await db.transaction((tx) => tx.update(jobs).set({ state: "passed" }).where(eq(jobs.buildId, id)));

    const { text, folds } = await rows();
    assert.equal(folds, 1);
    assert.match(text, /Test on … 3 jobs passed .* Test on 18 passed/);
  });

  it("retries all failed jobs at once, and only them", async () => {
    const { id, path } = await make({ ...failedBuild, jobs: failedJobs });
    assert.match((await pages.asBob.get(path)).text, /Retry 2 failed jobs/);

    const answer = await pages.asBob.post(`${path}/retry`);

    assert.equal(answer.headers.get("location"), `${path}?notice=failed_jobs_retried`);
    const jobs = await jobsOf(id);
    assert.deepEqual(
      jobs.map(({ state }) => state),
      ["passed", "passed", "failed", "scheduled", "timed_out", "scheduled", "waiting", "waiting"],
    );
    const idOf = (place: number) => jobs[place]?.id;
    assert.deepEqual(
      jobs.map(({ retriedInJobId }) => retriedInJobId),
      [null, null, idOf(3), null, idOf(5), null, null, null],
    );
    assert.equal(await headlineOf(path), "Running for 3 min 15 s · waited 35 s");
    const again = await pages.asBob.post(`${path}/retry`);
    assert.equal(again.status, 422);
    assert.match(again.text, /No failed job can be retried: there is none, or/);
    assert.equal((await jobsOf(id)).length, 8);
  });

  it("has Rebuild as its main button once the steps are edited, and says what Retry runs", async () => {
    const { id, path, pipelineId } = await make({ ...failedBuild, jobs: failedJobs });
    const edit = (change: PipelineChange) =>
      updatePipeline(pages.services, pages.actor, { id: pipelineId }, change);
    const read = async () => {
      const { text } = await pages.asBob.get(path);
      const [, actions = ""] = /<div class="actions">(.*?)<details class="menu" id="more"/s.exec(text) ?? [];
      const buttons = [
        ...actions.matchAll(/<button type="submit"( class="secondary")? title="([^"]*)">([^<]*)</g),
      ];
      return {
        buttons: buttons.map(([, isSecondary, , words]) => (isSecondary ? `${words}, secondary` : words)),
        hints: buttons.map(([, , hint]) => hint),
        isSaid: text.includes("The steps were edited since. Retry runs the steps of this build; a new build"),
        isSame: text.includes("Retry runs the same steps. Edited ones need a new build."),
      };
    };
    const retryFirst = ["Retry 2 failed jobs", "Rebuild, secondary"];
    const rebuildFirst = ["Rebuild", "Retry 2 failed jobs, secondary"];
    await edit({ description: "Edited" });
    const before = await read();
    assert.deepEqual([before.buttons, before.isSaid, before.isSame], [retryFirst, false, true]);

    await edit({ steps: [{ command: "make" }] });

    const after = await read();
    assert.deepEqual([after.buttons, after.isSaid, after.isSame], [rebuildFirst, true, false]);
    assert.match(after.hints[1] ?? "", /^Runs the steps of this build\./);
    await edit({ allowRebuilds: false });
    assert.deepEqual((await read()).buttons, ["Retry 2 failed jobs"]);
    await edit({ allowRebuilds: true });
    await pages.services.db.transaction((tx) =>
      tx.update(tx.tables.builds).set({ createdAt: tx.now }).where(eq(tx.tables.builds.id, id)),
    );
    assert.deepEqual((await read()).buttons, retryFirst);
    await archivePipeline(pages.services, pages.actor, { id: pipelineId });
    assert.deepEqual((await read()).buttons, ["Retry 2 failed jobs"]);
  });

  it("does not retry jobs whose steps forbid it", async () => {
    const retry = { manual: { allowed: false, permit_on_passed: true } };
    const { id, path } = await make({
      ...failedBuild,
      jobs: [{ ...(failedJobs[2] as (typeof failedJobs)[0]), step: { command: "make", retry } }],
    });

    const answer = await pages.asBob.post(`${path}/retry`);

    assert.equal(answer.status, 422);
    assert.match(answer.text, /their steps do not allow it/);
    assert.equal((await jobsOf(id)).length, 1);
  });

  it("has at most 200 jobs and 400 KB, however many jobs and long commands there are", async () => {
    const { services, actor, acme } = pages;
    const command = `make\n${"x".repeat(5000)}`;
    const steps = Array.from({ length: 20 }, (_, index) => ({
      label: `Step ${index} ${"of many ".repeat(10)}`,
      command,
      parallelism: 100,
    }));
    const many = await createPipeline(services, actor, { clusterId: acme.cluster.id, name: "Many", steps });
    const { build } = await createBuildByHand(services, actor, many, { message: "Many" });
    const path = `${pages.paths.pipelines}/many/builds/${build.number}`;

    const sizes: number[] = [];
    const seen = new Set<string>();
    for (let page = 1; page <= 10; page++) {
      const { text } = await pages.asBob.get(`${path}?page=${page}`);
      sizes.push(Buffer.byteLength(text));
      for (const [, id = ""] of text.matchAll(/<li data-part="[\w-]+" id="([\w-]{36})"/g)) seen.add(id);
    }

    assert.ok(Math.max(...sizes) < maxPageBytes, `${Math.max(...sizes)} bytes`);
    assert.equal(seen.size, 2000);
    assert.match((await pages.asBob.get(path)).text, /Page 1 of (10|1,000\+ entries)/);
    assert.equal((await pages.asBob.get(`${path}?page=99`)).status, 200);
  });

  it("has the webhook's exact payload as a file", async () => {
    const payload =
      '{ "id":12345678901234567890.10,"id":1E2,\t"text":"é\\u00e9 </pre><script>alert(1)</script>" }\n';
    const { number } = await buildWebhook(pages, (await pages.acme.trigger()).path, payload);
    const path = pages.paths.build(number);

    const { text } = await pages.asBob.get(path);
    const file = await pages.asBob.get(`${path}/payload`);

    assert.match(text, new RegExp(`<a href="${path}/payload" download>Download</a>`));
    assert.doesNotMatch(text, /alert/);
    assert.equal(file.text, payload);
    assert.match(
      file.headers.get("content-disposition") ?? "",
      new RegExp(`filename="build-${number}-payload\\.json"`),
    );

    const rebuilt = await pages.asAda.post(`${path}/rebuild`);
    const again = rebuilt.headers.get("location")?.split("?")[0] ?? "";
    assert.match(
      (await pages.asAda.get(again)).text,
      new RegExp(`<a href="${again}/payload" download>Download`),
    );
    assert.equal((await pages.asAda.get(`${again}/payload`)).text, payload);
  });

  it("leads to where the steps of new builds are changed", async () => {
    const { number } = await buildWebhook(pages, (await pages.acme.trigger()).path, "{}");

    const { text } = await pages.asBob.get(pages.paths.build(number));

    assert.ok(text.includes(`href="${pages.paths.pipeline}/edit?build=${number}#steps"`));
  });
});
