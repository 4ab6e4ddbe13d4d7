import assert from "node:assert/strict";
import { before, it } from "node:test";
import { eq } from "drizzle-orm";
import { createBuilds } from "../../../../shared/builds/making/builds.ts";
import { createBuildByHand, newBuild } from "../../../../shared/builds/making/by-request.ts";
import { requirePipeline, updatePipeline } from "../../../../shared/pipelines/pipelines.ts";
import type { BuildState } from "../../../../shared/vocabulary.ts";
import { describeWorld } from "../../../helpers/databases.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

const builds: { state: BuildState; branch: string; commit: string; message: string }[] = [
  { state: "passed", branch: "main", commit: "9f2c1e07", message: "Faster loops" },
  { state: "failed", branch: "main", commit: "a1b2c3d4", message: "100% of all prices" },
  { state: "failing", branch: "topic/<b>", commit: "a1b2c3d4", message: "Slower loops" },
  { state: "canceled", branch: "topic/<b>", commit: "HEAD", message: "prices_of_today" },
  { state: "scheduled", branch: "main", commit: "HEAD", message: "\\ as it is" },
];

const allBuilds = "/organizations/acme/builds";

describeWorld("the search for builds", startQueuePages, (pages) => {
  before(async () => {
    for (const build of builds) await make(build);
  });

  const make = async ({ state, ...texts }: (typeof builds)[number], amount = 1) => {
    const { services, acme, clock } = pages;
    const request = { pipelineId: acme.pipeline.id, deliveryId: null, source: "webhook" as const };
    const requests = Array.from({ length: amount }, () => ({
      ...request,
      ...texts,
      environmentSealed: null,
    }));
    await services.db.transaction(async (tx) => {
      const made = await createBuilds(tx, services, requests, clock.now());
      const { builds } = tx.tables;
      for (const { id } of made.builds) await tx.update(builds).set({ state }).where(eq(builds.id, id));
    });
  };
  const numbersIn = (html: string) =>
    [...html.matchAll(/builds\/(\d+)">(?:<bdi>Web<\/bdi> )?#/g)].map(([, number]) => Number(number));
  /** The pages of the pipeline and of the organization find the same. */
  const found = async (query: Record<string, string>) => {
    const [first, second] = await Promise.all(
      [pages.paths.pipeline, allBuilds].map(async (path) => {
        const { status, text } = await pages.asBob.get(`${path}?${new URLSearchParams(query)}`);
        assert.equal(status, 200, text);
        return numbersIn(text);
      }),
    );
    assert.deepEqual(first, second);
    return first;
  };

  it("finds by state, branch, commit and a part of the message, and by all of them", async () => {
    assert.deepEqual(await found({}), [5, 4, 3, 2, 1]);
    assert.deepEqual(await found({ state: "running" }), [3]);
    assert.deepEqual(await found({ state: "failed" }), [2]);
    assert.deepEqual(await found({ branch: "topic/<b>" }), [4, 3]);
    assert.deepEqual(await found({ commit: "a1b2c3d4", branch: "main" }), [2]);
    assert.deepEqual(await found({ message: "LOOPS" }), [3, 1]);
    assert.deepEqual(await found({ message: " loops ", state: "passed", branch: "main", commit: "" }), [1]);
    assert.deepEqual(await found({ message: "loops", state: "canceled" }), []);
  });

  it("finds a short commit of 7 characters or more, and other texts as a whole", async () => {
    assert.deepEqual(await found({ commit: "a1b2c3d" }), [3, 2]);
    assert.deepEqual(await found({ commit: "9f2c1e0" }), [1]);
    assert.deepEqual(await found({ commit: "9f2c1e0", state: "passed" }), [1]);
    assert.deepEqual(await found({ commit: "a1b2c3" }), []);
    assert.deepEqual(await found({ commit: "HEA" }), []);
    assert.deepEqual(await found({ commit: "HEAD" }), [5, 4]);
  });

  it("asks for more of a commit that too many begin with", async () => {
    for (let i = 0; i < 6; i++)
      await make({ state: "canceled", branch: "many", commit: `99999990${i}`, message: "" });
    const refused = await pages.asBob.get(`${allBuilds}?commit=9999999`);
    assert.equal(refused.status, 422);
    assert.match(refused.text, /More than 5 commits begin with 9999999\. Give more characters/);
    assert.equal((await found({ commit: "999999903" }))?.length, 1);
  });

  it("finds what a person made, by email address, and on which days", async () => {
    const { services, acme, clock } = pages;
    clock.advance(3 * 86_400_000);
    clock.freeze(); // of one day
    const today = clock.now().toISOString().slice(0, 10);
    await createBuildByHand(services, { organization: acme, userId: pages.bob.id }, acme.pipeline, {
      ...newBuild.parse({ message: "By hand", commit: "HEAD", branch: "by-hand" }),
      source: "ui",
    });

    const [number] = (await found({ branch: "by-hand" })) ?? [];

    assert.deepEqual(await found({ creator: "me" }), [number]);
    assert.deepEqual(await found({ creator: pages.bob.email.toUpperCase(), state: "scheduled" }), [number]);
    assert.deepEqual(await found({ creator: pages.ada.email }), []);
    assert.deepEqual(await found({ creator: "nobody@example.com" }), []);
    assert.deepEqual(await found({ from: today }), [number]);
    assert.deepEqual(await found({ to: today, branch: "by-hand" }), [number]);
    assert.deepEqual(await found({ to: "2000-01-01" }), []);
  });

  it("counts the builds of each state, as far as the other filters go", async () => {
    const { text } = await pages.asBob.get(`${allBuilds}?branch=main&message=prices`);
    assert.match(text, />failed<span class="count"> 1</);
    assert.match(text, />passed<span class="count"> 0</);
    await make({ state: "passed", branch: "counted", commit: "HEAD", message: "" }, 100);
    for (const path of [allBuilds, pages.paths.pipeline]) {
      assert.match(
        (await pages.asBob.get(`${path}?branch=counted`)).text,
        />passed<span class="count"> 99\+</,
      );
      assert.match((await pages.asBob.get(`${path}?branch=counted`)).text, />failed<span class="count"> 0</);
    }
  });

  it("links a commit where the repository is known", async () => {
    const { services, actor, acme } = pages;
    const links = async () => (await pages.asBob.get(`${allBuilds}?commit=a1b2c3d4`)).text;
    assert.doesNotMatch(await links(), /git\.example/);
    const web = await requirePipeline(services.db, acme.id, "web");
    await updatePipeline(services, actor, web, { repository: "https://me:secret@git.example.com/site.git" });
    const html = await links();
    assert.match(html, /href="https:\/\/git\.example\.com\/site\/commit\/a1b2c3d4"[^>]*><code>a1b2c3d</);
    assert.match(html, /data-text="a1b2c3d4"/);
    assert.ok(!html.includes("secret"));
  });

  it("takes wildcards of databases as they are", async () => {
    assert.deepEqual(await found({ message: "0%" }), [2]);
    assert.deepEqual(await found({ message: "_of_" }), [4]);
    assert.deepEqual(await found({ message: "\\" }), [5]);
    assert.deepEqual(await found({ message: "%" }), [2]);
  });

  it("keeps what was searched in its form, its chips and its pages", async () => {
    await make({ state: "canceled", branch: "bulk", commit: "HEAD", message: "One of many" }, 31);
    const query = "state=canceled&branch=bulk";

    const { text } = await pages.asBob.get(`${pages.paths.pipeline}?${query}`);

    assert.match(text, /name="state" value="canceled"/);
    assert.match(text, /name="branch" value="bulk"/);
    assert.match(text, /\?state=canceled&amp;branch=bulk" aria-current="page">canceled</);
    assert.match(text, /href="[^"]*\?state=failed&amp;branch=bulk">failed</);
    const [, next = ""] = /href="([^"]*page=2[^"]*)">Next/.exec(text) ?? [];
    const second = await pages.asBob.get(next.replaceAll("&amp;", "&"));
    assert.equal(numbersIn(second.text).length, 1);
    assert.match(second.text, /name="branch" value="bulk"/);
    const odd = await pages.asBob.get(`${pages.paths.pipeline}?branch=${encodeURIComponent("topic/<b>")}`);
    assert.ok(!odd.text.includes("topic/<b>"), "escaped");
  });

  it("says that nothing matches, and what is wrong with an address", async () => {
    const none = await pages.asBob.get(`${pages.paths.pipeline}?message=nowhere`);
    assert.match(none.text, /No build matches/);
    for (const [query, message] of [
      ["state=blocked_passed", /State blocked_passed is not one of scheduled, running/],
      ["from=2026-02-30", /2026-02-30 is not a day such as/],
      ["message=%00", /message to search for/],
      [`branch=${"x".repeat(1001)}`, /branch to search for is too long/],
    ] as const) {
      const refused = await pages.asBob.get(`${pages.paths.pipeline}?${query}`);
      assert.equal(refused.status, 422, query);
      assert.match(refused.text, message);
    }
  });
});
