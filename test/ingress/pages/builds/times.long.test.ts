import assert from "node:assert/strict";
import { before, it } from "node:test";
import type { BrowserContextOptions, Page } from "playwright-core";
import { describeInBrowser, openWindow, tabTo } from "../../../helpers/browser.ts";
import { startQueuePages } from "../../../helpers/pages.ts";
import { makeTimedBuild, passedBuild, passedJobs, runningBuild, runningJobs } from "./timed-builds.ts";

const timesOfUnitTests = "waited 1 min · ran 2 min 10 s";

describeInBrowser("the times of a build", startQueuePages, (pages) => {
  let passed: Awaited<ReturnType<typeof makeTimedBuild>>;

  before(async () => {
    const common = { clusterId: pages.acme.cluster.id };
    passed = await makeTimedBuild(pages, pages.actor, {
      ...common,
      ...passedBuild,
      name: "Passed",
      jobs: passedJobs,
    });
    await makeTimedBuild(pages, pages.actor, {
      ...common,
      ...runningBuild,
      name: "Running",
      jobs: runningJobs,
    });
  });

  const open = async (name: string, options: BrowserContextOptions = {}) => {
    const page = await openWindow(pages.url, { cookie: await pages.cookieOf(pages.bob), ...options });
    await page.goto(`${pages.paths.pipelines}/${name}/builds/1`);
    return page;
  };
  const exactTimes = (page: Page) =>
    page
      .locator(".jobs > li", { hasText: /^Unit tests/ })
      .locator(".exact-times")
      .innerText();
  /** As the page shows it in this zone. */
  const local = (at: Date, timeZone: string) =>
    new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium", timeZone }).format(at);
  const startedAt = () => new Date(passed.createdAt.getTime() + 60_000);

  for (const zone of ["America/New_York", "Asia/Kolkata"])
    it(`are exact in the reader's zone one key away: ${zone}`, async () => {
      const page = await open("passed", { timezoneId: zone });

      await tabTo(page, timesOfUnitTests);
      assert.equal(await exactTimes(page).catch(() => ""), "", "folded");
      await page.keyboard.press("Enter");

      const shown = (await exactTimes(page)).replaceAll(/\s+/g, " ");
      assert.ok(shown.includes(`Started ${local(startedAt(), zone)} GMT`), shown);
      await page.locator("#created-at > summary").click();
      const createdAt = await page.locator("#created-at .exact").innerText();
      assert.ok(createdAt.startsWith(local(passed.createdAt, zone)), createdAt);
      await page.context().close();
    });

  it("are exact in UTC without JavaScript", async () => {
    const page = await open("passed", { timezoneId: "Asia/Kolkata", javaScriptEnabled: false });

    await tabTo(page, timesOfUnitTests);
    await page.keyboard.press("Enter");

    const shown = (await exactTimes(page)).replaceAll(/\s+/g, " ");
    assert.ok(shown.includes(`Started ${local(startedAt(), "UTC")} UTC`), shown);
    await page.context().close();
  });

  it("grow while a job runs, and stay unfolded and focused when the page refreshes", async () => {
    const page = await open("running");
    const row = page.locator(".jobs > li", { hasText: /^Unit tests/ });
    const running = row.locator(".growing");
    const first = await running.innerText();
    await row.locator(".unfolding > summary").focus();
    await page.keyboard.press("Enter");
    const old = await row.elementHandle();

    await page.waitForFunction(
      ([id, text]) => document.querySelector(`[id="${id}"] .growing`)?.textContent !== text,
      [await row.getAttribute("id"), first] as const,
    );
    await page.evaluate(() => dispatchEvent(new Event("stale")));

    await page.waitForFunction((element) => !element?.isConnected, old);
    assert.ok(await row.locator(".exact-times").isVisible(), "stays unfolded");
    assert.equal(
      await page.evaluate(() => document.activeElement?.parentElement?.id),
      await row.locator(".unfolding").getAttribute("id"),
    );
    await page.context().close();
  });

  it("are not compared in two zones: a finished build's page stays as it is", async () => {
    const page = await open("passed", { timezoneId: "Asia/Kolkata" });
    const row = await page.locator(".jobs > li", { hasText: /^Unit tests/ }).elementHandle();

    const refreshed = page.waitForResponse((response) => response.request().resourceType() === "fetch");
    await page.evaluate(() => dispatchEvent(new Event("stale")));
    await (await refreshed).finished();
    await page.evaluate(() => new Promise(requestAnimationFrame));

    assert.ok(await row?.evaluate((element) => element.isConnected));
    await page.context().close();
  });
});
