import assert from "node:assert/strict";
import { before, it } from "node:test";
import { eq } from "drizzle-orm";
import type { Page } from "playwright-core";
import { annotateByHand } from "../../../../shared/annotations/by-hand.ts";
import { createBuildByHand } from "../../../../shared/builds/making/by-request.ts";
import { createPipeline } from "../../../../shared/pipelines/pipelines.ts";
import { pipelineSteps } from "../../../../shared/pipelines/steps.ts";
import { leaseJob } from "../../../agents/logs/jobs-with-logs.ts";
import { leaveArtifact } from "../../../artifacts/left-by-job.ts";
import { describeInBrowser, openWindow } from "../../../helpers/browser.ts";
import { buildWebhook } from "../../../helpers/builds.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

const escapeCode = "\x1b";
const rightToLeft = "\u202e";
const widths = [390, 1440];

/** Breaks out of texts, attributes and fields, colors a terminal, and turns the direction of what follows. */
const strange = (place: string) =>
  `${place}'"></textarea></title></pre><script>attacked=1</script><img src=x onerror=attacked=1>` +
  `${escapeCode}[31m${escapeCode}]0;title${rightToLeft}`;

describeInBrowser("text of strangers", startQueuePages, (pages) => {
  let page: Page;
  let job: string;
  let trigger: string;
  let delivery: string;
  const pipeline = "/organizations/acme/pipelines/strange";
  const build = `${pipeline}/builds/1`;

  before(async () => {
    const { services, actor, acme } = pages;
    const { db } = services;
    const made = await createPipeline(services, actor, {
      clusterId: acme.cluster.id,
      name: strange("pipeline"),
      slug: "strange",
      description: strange("description"),
      steps: pipelineSteps.parse([
        {
          label: strange("label"),
          command: strange("command"),
          key: `key'"><script>attacked=1</script>${rightToLeft}`,
        },
        { group: strange("group"), steps: [{ command: strange("grouped") }, { command: "b" }] },
        {
          input: strange("block"),
          prompt: strange("prompt"),
          fields: [
            { key: "a", text: strange("question"), hint: strange("hint"), default: strange("default") },
            { key: "b", select: strange("select"), options: [{ label: strange("option"), value: "c" }] },
          ],
        },
      ]),
    });
    const { build } = await createBuildByHand(services, actor, made, {
      message: `${strange("message")}\n\n${strange("paragraph")}`,
      branch: strange("branch"),
      commit: strange("commit"),
      env: { A: strange("value") },
      meta_data: { [strange("meta")]: strange("meta-value") },
      author: { name: strange("author"), email: strange("email"), username: undefined },
    });
    const rows = await db.select().from(db.tables.jobs).where(eq(db.tables.jobs.buildId, build.id));
    job = rows.find(({ type, position }) => type === "script" && position === 0)?.id ?? "";
    const agent = await leaseJob(services, { id: job, organizationId: acme.id });
    await agent.log(`+++ ${strange("log group")}\n${strange("log")}\n${escapeCode}[31mred\n`);
    await agent.finish("failed");
    await leaveArtifact(
      services,
      { id: job, buildId: build.id, organizationId: acme.id },
      { path: strange("f") },
    );
    for (const style of ["error", "info", "warning"] as const)
      await annotateByHand(
        services,
        { buildId: build.id, jobId: null },
        {
          body: strange("annotation"),
          context: strange(style),
          style,
        },
      );
    const hook = await acme.trigger(
      { label: strange("trigger"), buildMessage: strange("hooked") },
      "strange",
    );
    const body = JSON.stringify({ [strange("member")]: strange("payload") });
    const ofHook = await buildWebhook(pages, hook.path, body);
    trigger = `${pipeline}/triggers/${hook.id}`;
    delivery = `${trigger}/deliveries/${ofHook.deliveryId}`;
    page = await openWindow(pages.url, { cookie: await pages.cookieOf(pages.ada), reducedMotion: "reduce" });
  });

  /** Visits a page, and asserts that it shows these texts and nothing else came of them. */
  const look = async (path: string, places: string[]) => {
    await page.goto(path);
    const { isAttacked, foreign, values, turned } = await page.evaluate(inspect, rightToLeft);
    assert.ok(!isAttacked, `a script ran on ${path}`);
    assert.deepEqual(foreign, [], `elements on ${path}`);
    assert.deepEqual(turned, [], `texts that turn others on ${path}`);
    // In JSON the quote has a backslash.
    const shown = values.replaceAll('\\"', '"');
    for (const place of places) assert.ok(shown.includes(`${place}'"></textarea>`), `${place} on ${path}`);
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 });
      const room = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(room <= width, `${path} is ${room} pixels wide at ${width}`);
    }
  };

  it("is text in lists and in the search", async () => {
    await look("/organizations/acme", ["pipeline", "message"]);
    await look("/organizations/acme/pipelines", ["pipeline", "hooked"]);
    await look("/organizations/acme/builds", ["pipeline", "message", "branch"]);
    await look("/organizations/acme/search?q=message", ["message"]);
    await look(`/organizations/acme/search?q=${encodeURIComponent(strange("asked"))}`, ["asked"]);
    await look("/organizations/acme/audit", []);
    await look(pages.paths.queue, []);
  });

  it("is text on the pages of a pipeline and its form", async () => {
    await look(pipeline, ["pipeline", "message", "label", "command", "group", "block"]);
    await look(`${pipeline}/edit`, ["pipeline", "label", "command"]);
  });

  it("is text on the page of a build", async () => {
    const shown = [
      "pipeline",
      "message",
      "paragraph",
      "branch",
      "commit",
      "value",
      "meta",
      "meta-value",
      "author",
    ];
    const ofSteps = ["label", "group", "block", "prompt", "question", "hint", "default", "select", "option"];
    await look(`${build}?environment=shown`, [...shown, ...ofSteps, "log"]);
    await look(`${build}/artifacts`, ["f"]);
  });

  it("is text on the page of a job and in its log", async () => {
    await look(`${build}/jobs/${job}`, ["label", "command", "log group", "log", "pipeline"]);
    await look(`${build}/jobs/${job}?find=${encodeURIComponent(strange("found"))}`, ["found"]);
  });

  it("is text on the pages of a delivery and its trigger", async () => {
    await look(trigger, ["trigger", "hooked"]);
    await look(delivery, ["trigger", "member", "payload"]);
    await look(`${trigger}/filter`, ["trigger"]);
  });
});

/** A text turns others if it is not isolated from those in its block. */
function inspect(mark: string) {
  const page = globalThis as typeof globalThis & { attacked?: unknown };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const turned: string[] = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (!node.textContent?.includes(mark)) continue;
    let parent = node.parentElement;
    let isAlone = parent?.textContent?.trim() === node.textContent.trim();
    while (
      parent &&
      getComputedStyle(parent).unicodeBidi === "normal" &&
      getComputedStyle(parent).display === "inline"
    ) {
      parent = parent.parentElement;
      isAlone = parent?.textContent?.trim() === node.textContent.trim();
    }
    const isIsolated = parent !== null && getComputedStyle(parent).unicodeBidi.includes("isolate");
    if (!isIsolated && !isAlone) turned.push(parent?.outerHTML.slice(0, 200) ?? "");
  }
  const fields = [...document.querySelectorAll<HTMLInputElement>("input, textarea")];
  const values = [document.body.textContent, ...fields.map(({ value }) => value)].join("\n");
  const foreign = [...document.querySelectorAll("[onerror], img[src=x], script:not([src^='/assets/'])")];
  return {
    isAttacked: page.attacked !== undefined,
    foreign: foreign.map(({ outerHTML }) => outerHTML.slice(0, 200)),
    values,
    turned,
  };
}
