import assert from "node:assert/strict";
import { before, it } from "node:test";
import type { Page } from "playwright-core";
import { createBuildByHand } from "../../../../shared/builds/making/by-request.ts";
import { createPipeline } from "../../../../shared/pipelines/pipelines.ts";
import { leaseJob, newJob } from "../../../agents/logs/jobs-with-logs.ts";
import { click, describeInBrowser, openWindow } from "../../../helpers/browser.ts";
import { startPages } from "../../../helpers/pages.ts";
import { assertLooks } from "../looks/assert-looks.ts";

const red = (text: string) => `\x1b[31m${text}\x1b[0m`;
const failing = 13_351;
const large = Array.from({ length: 20_000 }, (_, index) => {
  if (index === 0) return "--- Installing";
  if (index === 2000) return "+++ Testing";
  if (index === 19_990) return "~~~ Uploading";
  return index === failing - 1 ? red("✗ test/cart.ts:12 is broken") : `✔ line ${index + 1}`;
}).join("\n");

describeInBrowser("reading a log of 20,000 lines", startPages, (pages) => {
  let page: Page;
  let path: string;

  before(async () => {
    const made = await newJob(pages.services, pages.acme);
    const job = await leaseJob(pages.services, made);
    await job.log(large);
    await job.finish("failed");
    path = made.page;
    page = await openWindow(pages.url, {
      cookie: await pages.cookieOf(pages.ada),
      viewport: { width: 1440, height: 900 },
    });
  });

  const isInView = (line: number) =>
    page.locator(`#L${line}`).evaluate((element) => {
      const { top, bottom } = element.getBoundingClientRect();
      return top >= 0 && bottom <= innerHeight;
    });
  const lines = () =>
    page.locator(".lines p[id], .lines details[id]").evaluateAll((all) => all.map(({ id }) => id));
  const isOrdered = (ids: string[]) =>
    ids.every((id, index) => index === 0 || Number(id.slice(1)) === Number(ids[index - 1]?.slice(1)) + 1);

  it("shows the first red line after at most two actions from the page of the build", async () => {
    await page.goto(path.replace(/\/jobs\/.*/, ""));
    let actions = 0;
    await click(page, /^make/);
    actions++;
    if (!(await page.locator(`#L${failing}`).isVisible()) || !(await isInView(failing))) {
      await page.getByRole("link", { name: "First error" }).click();
      actions++;
    }

    assert.ok(await isInView(failing));
    assert.ok(actions <= 2, `${actions} actions`);
    assert.match(await page.locator(".lines .marked").innerText(), /is broken/);
  });

  it("loads what is above and below while one scrolls, and keeps the place", async () => {
    await page.goto(path);
    const begun = await lines();
    await page.mouse.move(700, 600);
    const top = () => page.locator(`#L${failing}`).evaluate((line) => line.getBoundingClientRect().top);

    await page.mouse.wheel(0, -50);
    await page.waitForFunction((count) => document.querySelectorAll(".lines p").length > count, begun.length);
    assert.ok((await top()) > 0 && (await isInView(failing)), "the line that is read stays where it is");
    while ((await lines())[0] !== "L1") {
      await page.mouse.wheel(0, -20_000);
      await page.waitForTimeout(50);
    }
    const up = await lines();
    assert.ok(isOrdered(up), "each line once");
    assert.equal(await page.getByRole("navigation", { name: "Earlier lines" }).count(), 0);
    assert.equal(await page.locator(".continued").count(), 0);
    assert.deepEqual(await page.locator(".lines > details").evaluateAll((all) => all.map(({ id }) => id)), [
      "L1",
      "L2001",
    ]);

    while ((await lines()).at(-1) !== "L20000") {
      await page.mouse.wheel(0, 40_000);
      await page.waitForTimeout(50);
    }
    assert.ok(isOrdered(await lines()), "each line once");
    assert.equal(await page.getByRole("navigation", { name: "Later lines" }).count(), 0);
  });

  it("links a range by a click and a second one with shift", async () => {
    await page.goto(`${path}?line=${failing}&attempt=1`);
    await page.evaluate(() => Object.assign(globalThis, { same: 1 }));

    await page.locator("#L13353 > a").click();
    await page.locator("#L13356 > a").click({ modifiers: ["Shift"] });
    assert.match(page.url(), /\?line=13353-13356&attempt=1#L13353$/);
    assert.equal(await page.locator(".lines .marked").count(), 4);
    await page.locator("#L13350 > a").click({ modifiers: ["Shift"] });
    assert.match(page.url(), /\?line=13350-13353&attempt=1#L13350$/);
    assert.ok(await page.evaluate(() => "same" in globalThis), "was not loaded again");
    await page.reload();
    assert.equal(await page.locator(".lines .marked").count(), 4);
    assert.ok(await isInView(13_350));
  });

  it("shows times of arrival on request, and says so in its links", async () => {
    await page.goto(`${path}?line=${failing}&attempt=1`);
    const time = page.locator(`#L${failing} time`);
    assert.ok(!(await time.isVisible()));

    await page.getByLabel("Times").selectOption("clock");
    assert.match(await time.innerText(), /^\d\d:\d\d:\d\d$/);
    assert.match(page.url(), /times=clock/);
    await page.locator("#L13353 > a").click();
    assert.match(page.url(), /\?line=13353&attempt=1&times=clock#L13353$/);
    await page.evaluate(() => localStorage.clear());
    await page.reload();
    assert.ok(await time.isVisible(), "without the choice of this browser");
    await page.getByRole("searchbox", { name: "Search in the whole log" }).fill("line 1335");
    await page.keyboard.press("Enter");
    await page.waitForURL(/find=line\+1335&times=clock|times=clock.*find=line/);

    await page.getByLabel("Times").selectOption("");
    assert.doesNotMatch(page.url(), /times/);
  });

  it("is searched by keys", async () => {
    await page.goto(path);
    await page.keyboard.press("/");
    await page.keyboard.type("line 1335");
    await page.keyboard.press("Enter");
    await page.waitForURL(/find=line\+1335/);
    const status = () => page.locator("#hits [role=status]").innerText();
    assert.equal(await status(), "1 of 10"); // 1335, and 13350 to 13359 without the red one
    for (const [index, line] of [13_350, 13_352].entries()) {
      await page.keyboard.press("n");
      await page.waitForURL(new RegExp(`line=${line}.*#L${line}$`));
      await page.locator(`#L${line}.marked`).waitFor();
      assert.equal(await status(), `${index + 2} of 10`);
      assert.ok(await isInView(line));
    }
    await page.keyboard.press("N");
    await page.locator("#L13350.marked").waitFor();
    assert.equal(await status(), "2 of 10");
  });

  it("leads to the first hit from a line that the address names", async () => {
    await page.goto(`${path}?line=19000&attempt=1#L19000`);
    await page.getByRole("searchbox", { name: "Search in the whole log" }).fill("line 1335");
    await page.keyboard.press("Enter");
    await page.waitForURL(/find=line\+1335/);

    assert.equal(new URL(page.url()).hash, "");
    assert.ok(await isInView(1335));
  });

  it("searches on by itself where a log is too large for one answer", async () => {
    const made = await newJob(pages.services, pages.acme);
    const job = await leaseJob(pages.services, made);
    const text = `${"a line of a very large log ".repeat(10)}\n`.repeat(70_000);
    await job.log(`early needle\n${text}needle\nlate only\n`, 100_000);
    await job.finish();
    const status = (words: string) => page.locator("#hits [role=status]", { hasText: words }).waitFor();

    await page.goto(`${made.page}?find=needle`);
    await status("1 of 2");
    assert.equal(await page.locator("#hits .more").count(), 0);
    await page.keyboard.press("n");
    await page.locator("#L70002.marked").waitFor();
    await page.goto(`${made.page}?find=late+only`);
    await status("1 of 1");
    await page.locator("#L70003.marked").waitFor();
  });

  it("follows its end while the job runs, until one scrolls up", async () => {
    const made = await newJob(pages.services, pages.acme);
    const job = await leaseJob(pages.services, made);
    const text = "a line\n".repeat(300);
    await job.send(1, 0, text);
    await page.goto(made.page);
    const isAtEnd = () =>
      page.evaluate(() => scrollY + innerHeight >= document.documentElement.scrollHeight - 60);
    assert.ok(await page.getByLabel("Follow").isChecked());
    assert.ok(await isAtEnd());

    await job.send(2, text.length, text);
    await page.locator("#L600").waitFor();
    assert.ok(await isAtEnd());
    await page.mouse.move(700, 600);
    await page.mouse.wheel(0, -1000);
    await page.waitForFunction(() => !(document.getElementById("follow") as HTMLInputElement).checked);
    await job.send(3, 2 * text.length, text);
    await page.locator("#L900").waitFor();
    assert.ok(!(await isAtEnd()));
    await page.getByLabel("Follow").check();
    assert.ok(await isAtEnd());
  });

  it("leaves the head in sight while the lines fit the window, and follows from there", async () => {
    const made = await newJob(pages.services, pages.acme);
    const job = await leaseJob(pages.services, made);
    const text = "a line\n".repeat(5);
    await job.send(1, 0, text);
    await page.goto(made.page);
    await page.locator("#L5").waitFor();
    assert.equal(await page.evaluate(() => scrollY), 0);
    assert.ok(await page.getByLabel("Follow").isChecked());

    await job.send(2, text.length, "another line\n".repeat(300));
    await page.locator("#L305").waitFor();

    assert.ok(
      await page.locator("#L305").evaluate((line) => line.getBoundingClientRect().bottom <= innerHeight),
    );
  });

  it("copies a place in a file by a click", async () => {
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.goto(path);
    await page.locator(".place").first().click();
    await page.locator(".place.copied").waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "test/cart.ts:12");
  });

  it("shows a place in a file within its line, also on a phone", async () => {
    await page.goto(path);
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 844 });
      assert.match(await page.locator(`#L${failing}`).innerText(), /✗ test\/cart\.ts:12 is broken$/);
    }
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  it("leads by j and k through the jobs of the build, with the reader's choices", async () => {
    const { services, acme } = pages;
    const pipeline = await createPipeline(services, acme.operator, {
      clusterId: acme.cluster.id,
      name: "Many",
      steps: ["one", "two", "three"].map((label) => ({ command: `make ${label}`, label })),
    });
    await createBuildByHand(services, acme.operator, pipeline, {});
    const { jobs } = services.db.tables;
    const rows = await services.db.select({ id: jobs.id, label: jobs.ownLabel }).from(jobs);
    const id = rows.find(({ label }) => label === "two")?.id ?? "";
    await page.goto(`/organizations/acme/pipelines/many/builds/1/jobs/${id}`);
    const title = (name: string) => page.getByRole("heading", { level: 1, name }).waitFor();

    await title("two");
    await page.getByLabel("Wrap").uncheck();
    await page.keyboard.press("j");
    await title("three");
    assert.ok(!(await page.getByLabel("Wrap").isChecked()));
    await page.getByLabel("Wrap").check();
    await page.keyboard.press("j"); // it is the last one
    await page.keyboard.press("k");
    await title("two");
    await page.keyboard.press("k");
    await title("one");
    await page.getByLabel("Fold").check();
    assert.ok(!(await page.locator("#siblings ol").isVisible()));
    await page.getByLabel("Fold").uncheck();
    await page.setViewportSize({ width: 390, height: 844 });
    assert.ok(!(await page.locator("#siblings ol").isVisible()));
    await page.getByLabel("3 jobs").check();
    assert.ok(await page.locator("#siblings ol").isVisible());
    await page.getByLabel("3 jobs").uncheck();
  });

  it("has no fault of accessibility, and fits a phone", async () => {
    await page.goto(`${path}?find=broken`);
    await assertLooks(page, "reading a log");
  });
});
