import assert from "node:assert/strict";
import { before, it } from "node:test";
import type { Page } from "playwright-core";
import type { JobState } from "../../../../shared/vocabulary.ts";
import { agentTokenOf, startAgent } from "../../../helpers/agent.ts";
import { click, describeInBrowser, heading, mainText, openWindow, tabTo } from "../../../helpers/browser.ts";
import { startQueuePages } from "../../../helpers/pages.ts";
import { assertLooks } from "../looks/assert-looks.ts";
import { diamond, groups, makeStagedBuild, matrix, type StagedBuild } from "./staged-builds.ts";

describeInBrowser("the stages of a build", startQueuePages, (pages) => {
  let page: Page;
  let withoutScripts: Page;

  before(async () => {
    const cookie = await pages.cookieOf(pages.ada);
    page = await openWindow(pages.url, { cookie, reducedMotion: "reduce" });
    withoutScripts = await openWindow(pages.url, { cookie, javaScriptEnabled: false });
  });

  const make = async (given: Omit<StagedBuild, "clusterId">) => {
    const { jobs } = await makeStagedBuild(pages, pages.actor, {
      clusterId: pages.acme.cluster.id,
      ...given,
    });
    return { path: `${pages.paths.pipelines}/${given.name.toLowerCase()}/builds/1`, jobs };
  };
  const stagesOf = async (on: Page) =>
    (await on.locator(".stages > section").allInnerTexts()).map((text) => text.replace(/\s+/g, " "));

  it("are columns of what waits for what", async () => {
    const states = { Build: "passed", "Unit tests": "failed", "Tests in a browser": "running" } as const;
    const { path } = await make({ name: "Diamond", steps: diamond, state: "failing", states });

    await page.goto(path);

    assert.deepEqual(
      (await stagesOf(page)).map((text) => text.replace(/ \d+ (min|s)\b/g, "")),
      [
        "Stage 1 Build passed",
        "Stage 2 Unit tests failed Tests in a browser running",
        "Stage 3 Deploy waiting",
      ],
    );
    await assertLooks(page, "stages of a diamond");
  });

  it("have a matrix as a row of dots, which unfolds by keyboard and without JavaScript", async () => {
    const states = {
      Lint: "passed",
      "Test on linux, Node 20": "passed",
      "Test on linux, Node 22": "passed",
      "Test on linux, Node 24": "passed",
      "Test on macos, Node 20": "running",
      "Test on macos, Node 22": "failed",
      "Test on macos, Node 24": "canceled",
    } as const;
    const { path } = await make({ name: "Matrix", steps: matrix, state: "failing", states });
    const counts = "12 jobs: 1 failed, 1 running, 5 waiting, 1 canceled or not reached, 3 passed, 1 skipped";

    await withoutScripts.goto(path);
    const [first = ""] = await stagesOf(withoutScripts);
    assert.ok(first.includes(`Test on … ${counts}`), first);
    assert.equal(await withoutScripts.locator(".dots a").count(), 12);
    await withoutScripts.getByTitle(/^Test on macos, Node 22: failed, 1 min/).click();
    assert.match(await heading(withoutScripts), /^Test on macos, Node 22/);
    await withoutScripts.goBack();
    await withoutScripts.locator(".stages summary").click();
    await click(withoutScripts, /macos, 22/);
    assert.match(await heading(withoutScripts), /^Test on macos, Node 22/);

    await page.goto(path);
    await tabTo(page, new RegExp(counts));
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "windows, 20 skipped" }).waitFor();
    await assertLooks(page, "stages with a matrix");
    assert.match(await mainText(page), /Not for this branch/);
    assert.match(await mainText(page), /Skipped: Nobody uses it/);
  });

  it("have groups that unfold to their steps", async () => {
    const shards = Object.fromEntries(
      [1, 2, 3, 4, 5, 6, 7, 8].map((shard) => [`Shard ${shard}`, "scheduled" as const]),
    );
    const states: Record<string, JobState> = {
      ...shards,
      Prepare: "passed",
      "The wait": "passed",
      Lint: "passed",
      Types: "running",
      "Shard 3": "running",
      "End to end": "running",
    };
    const { path } = await make({ name: "Groups", steps: groups, states });

    await page.goto(path);

    const [, second = ""] = await stagesOf(page);
    assert.match(second, /Checks 3 steps: 1 running, 1 waiting, 1 passed/);
    assert.match(second, /Tests 2 steps: 2 running, 7 waiting/);
    await assertLooks(page, "stages with groups, folded");
    for (const name of ["Checks", "Tests", "Shard"])
      await page.locator(".stages summary", { hasText: name }).last().click();
    await page.getByRole("link", { name: "3 of 8 running" }).waitFor();
    await assertLooks(page, "stages with groups");
  });

  it("lead to a job that says why it waits", async () => {
    const token = await agentTokenOf(pages, pages.acme.cluster);
    await startAgent(pages.url, token, { meta_data: ["os=linux"] });
    const command = { command: "make train", agents: { os: "linux", gpu: "*" } };
    const { path } = await make({
      name: "Waiting",
      steps: [{ label: "Train", ...command }, { type: "wait" }, { label: "Report", command: "make report" }],
      state: "scheduled",
    });

    await page.goto(path);
    await assertLooks(page, "a build whose job waits");
    await click(page, "Train");

    assert.match(await mainText(page), /No connected agent of the queue default has the tag gpu\./);
    assert.match(
      await mainText(page),
      /npm run agent -- start --token TOKEN --queue default --tags gpu,os=linux/,
    );
    await assertLooks(page, "a job that waits");
  });
});
