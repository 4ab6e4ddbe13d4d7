import assert from "node:assert/strict";
import { before, it } from "node:test";
import type { Locator, Page } from "playwright-core";
import { leaseJob, newJob } from "../../../agents/logs/jobs-with-logs.ts";
import { describeInBrowser, openWindow } from "../../../helpers/browser.ts";
import { startPages } from "../../../helpers/pages.ts";
import { assertLooks } from "../looks/assert-looks.ts";

const mark = (second: number) => `\x1b_bk;t=${Date.UTC(2026, 10, 21, 16, 12, second)}\x07`;
const log = [
  `${mark(1)}~~~ Preparing working directory`,
  `${mark(1)}# Creating a folder`,
  `${mark(2)}--- Installing packages`,
  ...Array.from({ length: 12 }, (_, index) => `${mark(3)}added package ${index}`),
  `${mark(4)}+++ Running the tests`,
  `${mark(5)}\x1b[90m$\x1b[0m npm test`,
  `${mark(6)}\x1b[32m✔\x1b[0m passes \x1b[1mbold\x1b[22m \x1b[2mdim\x1b[0m \x1b[3mitalic\x1b[0m \x1b[4munderlined\x1b[0m`,
  `${mark(7)}${[1, 2, 3, 4, 5, 6, 7].map((color) => `\x1b[3${color}mcolor ${color}\x1b[0m \x1b[4${color}mon ${color}\x1b[0m`).join(" ")}`,
  `${mark(8)}<script>document.title = "hacked"</script> & <img src=x onerror=alert(1)>`,
  `${mark(9)}\x1b]8;;https://example.com/\x07a link\x1b]8;;\x07 and \x1b]8;;javascript:alert(1)\x07none\x1b]8;;\x07`,
  `${mark(9)}10%\r50%\r100%`,
  `${mark(10)}${"a very long line that wraps ".repeat(20)}`,
  "",
].join("\r\n");

describeInBrowser("the log of a job", startPages, (pages) => {
  let page: Page;

  before(async () => {
    page = await openWindow(pages.url, {
      cookie: await pages.cookieOf(pages.ada),
      viewport: { width: 1100, height: 800 },
    });
  });

  const newLog = async (text: string) => {
    const made = await newJob(pages.services, pages.acme);
    const job = await leaseJob(pages.services, made);
    await job.log(text);
    return { ...made, ...job };
  };
  const textsOf = (lines: Locator) =>
    lines.evaluateAll((all) =>
      all.map((line) =>
        [...line.childNodes].map((node) => (node.nodeName === "TIME" ? "" : node.textContent)).join(""),
      ),
    );
  const shown = () => page.locator(".lines").innerText();

  it("looks right in light, in dark and on a phone", async () => {
    const { page: path } = await newLog(log);
    await page.goto(`${path}#L5`);
    await page.getByLabel("Times").selectOption("clock");

    await assertLooks(page, "log of a job");
  });

  it("ends with its last line, and has its tools apart from each other", async () => {
    const { page: path } = await newLog("see https://example.com/\n");
    for (const viewport of [
      { width: 390, height: 800 },
      { width: 1280, height: 800 },
    ]) {
      await page.setViewportSize(viewport);
      await page.goto(path);
      const { height, between, below } = await page.evaluate(measureLog);

      // A link is no higher than the words beside it, whatever fingers need.
      assert.ok(height < 32, `the log is ${height} pixels high at ${viewport.width}`);
      assert.ok(between >= 4, `the rows of tools are ${between} pixels apart at ${viewport.width}`);
      assert.ok(below >= 4, `the log is ${below} pixels below its tools at ${viewport.width}`);
    }
    await page.setViewportSize({ width: 1100, height: 800 });
  });

  it("has ticks as high as the window, beside a log that is higher", async () => {
    const { page: path } = await newLog("one of many\n".repeat(500));
    await page.goto(path);
    const [top, ticks] = await page.evaluate(() => [
      document.querySelector("#log-tools")?.getBoundingClientRect().height,
      document.querySelector("#log-ticks > svg")?.getBoundingClientRect().height,
    ]);
    assert.equal(ticks, 800 - (top ?? 0));
  });

  it("folds groups, hides times and runs nothing of the job", async () => {
    const { page: path } = await newLog(log);
    await page.goto(path);
    await page.getByLabel("Times").selectOption("");

    assert.deepEqual(
      await page.locator(".lines details").evaluateAll((all) => all.map((each) => each.hasAttribute("open"))),
      [false, false, true],
    );
    await page.locator("summary", { hasText: "Installing packages" }).click();
    assert.match(await shown(), /added package 11/);
    assert.doesNotMatch(await shown(), /16:12:05/);
    await page.getByLabel("Times").selectOption("clock");
    assert.match(await shown(), /16:12:05/);
    assert.match(await shown(), /<script>document.title/);
    assert.match(await shown(), /100%/);
    assert.doesNotMatch(await shown(), /50%/);
    assert.equal(await page.locator(".lines script, .lines img").count(), 0);
    assert.deepEqual(
      await page.locator(".lines a[rel]").evaluateAll((all) => all.map((each) => each.getAttribute("href"))),
      ["https://example.com/"],
    );
  });

  it("opens the group that a link leads into", async () => {
    const { page: path } = await newLog(log);
    await page.goto(`${path}#L8`);
    await page.locator("#L8").waitFor({ state: "visible" });
    assert.match(await page.locator("#L8").innerText(), /added package 4/);
  });

  it("opened at its beginning, is shown once as it grows", async () => {
    const job = await newLog("first\n".repeat(3000));
    await page.goto(`${job.page}?from=0`);
    await page.getByLabel("Times").selectOption("clock");
    const size = () => page.locator("#more a").first().textContent();

    for (let sequence = 2; sequence < 5; sequence++) {
      const before = await size();
      await job.send(sequence, 18_000 + (sequence - 2) * 6000, "more.\n".repeat(1000));
      await page.waitForFunction((text) => document.querySelector("#more a")?.textContent !== text, before);
    }

    assert.equal(await page.locator(".lines").count(), 1);
    assert.equal(await page.locator("#L1").count(), 1);
    assert.equal(await page.getByLabel("Times").inputValue(), "clock");
    await page.getByLabel("Times").selectOption("");
    await job.send(5, 36_000, "last.\n");
    pages.services.events.publish([`job:${job.id}`]);
    await page.waitForTimeout(1000);
    assert.equal(await page.getByLabel("Times").inputValue(), "");
  });

  it("has links to its lines, which lead others there", async () => {
    const job = await newLog(`--- Many\n${"one of many\n".repeat(20_000)}`);
    await page.goto(`${job.page}?line=13351&attempt=1#L13351`);
    await page.locator("#L13351").waitFor({ state: "visible" });
    assert.equal(await page.locator(".lines .marked").getAttribute("id"), "L13351");

    await page.evaluate(() => Object.assign(globalThis, { same: 1 }));
    await page.locator("#L13353 > a").click();

    await page.waitForURL(/\?line=13353&attempt=1#L13353$/);
    assert.equal(await page.locator(".lines .marked").getAttribute("id"), "L13353");
    assert.ok(await page.evaluate(() => "same" in globalThis), "was not loaded again");

    await page.goto(`${job.page}?from=0`);
    const group = page.locator("#L1");
    assert.equal(await group.getAttribute("open"), null);
    await group.locator("summary").click();
    await group.locator("> a").click();
    await page.waitForURL(/\?line=1&attempt=1#L1$/);
    assert.equal(await group.getAttribute("open"), "");
  });

  it("redraws lines as the job does", async () => {
    const job = await newLog("+++ Tests\none\ntwo\nthree\n");
    await page.goto(job.page);

    const redrawn = "\x1b[2ATWO\n\x1b[Jdone\n";
    await job.send(2, 24, redrawn);
    await page.locator("#L3", { hasText: "TWO" }).waitFor();
    await job.send(3, 24 + redrawn.length, "next\n");
    await page.locator("#L7").waitFor();

    assert.deepEqual(await textsOf(page.locator(".lines details p")), ["2one", "3TWO", "4done", "7next"]);
    await page.reload();
    assert.deepEqual(await textsOf(page.locator(".lines details p")), ["2one", "3TWO", "4done", "7next"]);
  });

  it("grows as the job writes, and completes lines", async () => {
    const job = await newLog("+++ Tests\nfirst\nsec");
    await page.goto(job.page);
    const group = page.locator(".lines details");
    assert.match(await shown(), /first\s+3\s*sec$/);

    await job.send(2, 19, "ond\nthird\n");
    await page.locator("#L4").waitFor();
    await page.locator("#L2").evaluate((line) => line.setAttribute("data-same", ""));
    await job.send(3, 29, "--- More\nfourth\n");
    await page.locator("#L6").waitFor({ state: "attached" });

    assert.equal(await page.locator("[data-same]").count(), 1, "the page kept its lines");
    assert.deepEqual(await textsOf(group.locator("p")), ["2first", "3second", "4third", "6fourth"]);
    assert.equal(await group.count(), 2);
    await job.finish();
    pages.services.events.publish([`build:${job.buildId}`]);
    await page.locator("h1 .state.passed").waitFor();
    assert.equal(await page.locator("[data-same]").count(), 1);
  });
});

/** The height of the lines with what stands around them, the least room between rows of tools, and below the last. */
function measureLog() {
  const controls = "#log-tools :is(input[type=search], select, label:not([hidden]))";
  const tools = [...document.querySelectorAll(controls)].map((each) => each.getBoundingClientRect());
  const gaps = tools.flatMap(({ bottom }) => tools.map(({ top }) => top - bottom)).filter((gap) => gap > -1);
  const body = document.querySelector(".log-body")?.getBoundingClientRect() ?? new DOMRect();
  return {
    height: body.height,
    between: Math.min(...gaps, 100),
    below: body.top - Math.max(...tools.map(({ bottom }) => bottom)),
  };
}
