import assert from "node:assert/strict";
import { before, it } from "node:test";
import type { BrowserContextOptions } from "playwright-core";
import { describeInBrowser, openWindow } from "../../../helpers/browser.ts";
import { startQueuePages } from "../../../helpers/pages.ts";
import { makeTimedBuild, passedBuild, passedJobs, runningBuild, runningJobs } from "./timed-builds.ts";

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
  /** As the page shows it in this zone. */
  const local = (at: Date, timeZone: string) =>
    new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium", timeZone }).format(at);
  for (const zone of ["America/New_York", "Asia/Kolkata"])
    it(`are exact in the reader's zone one key away: ${zone}`, async () => {
      const page = await open("passed", { timezoneId: zone });

      await page.locator("#created-at > summary").click();
      const createdAt = await page.locator("#created-at .exact").innerText();
      assert.ok(createdAt.startsWith(local(passed.createdAt, zone)), createdAt);
      await page.context().close();
    });

  it("are exact in UTC without JavaScript", async () => {
    const page = await open("passed", { timezoneId: "Asia/Kolkata", javaScriptEnabled: false });

    await page.locator("#created-at > summary").click();

    const createdAt = await page.locator("#created-at .exact").innerText();
    assert.equal(createdAt, `${local(passed.createdAt, "UTC")} UTC`);
    await page.context().close();
  });

  it("grow while a job runs, with its bar, and the row stays when the page refreshes", async () => {
    const page = await open("running");
    const row = page.locator(".jobs > li", { hasText: /^\s*Unit tests/ });
    const first = await row.locator(".growing").innerText();
    const width = await row.locator("rect.running").getAttribute("width");
    await row.getByRole("link").focus();
    const old = await row.elementHandle();

    await page.waitForFunction(
      ([id, text]) => document.querySelector(`[id="${id}"] .growing`)?.textContent !== text,
      [await row.getAttribute("id"), first] as const,
    );
    assert.notEqual(await row.locator("rect.running").getAttribute("width"), width);
    const refreshed = page.waitForResponse((response) => response.request().resourceType() === "fetch");
    await page.evaluate(() => dispatchEvent(new Event("stale")));
    await (await refreshed).finished();
    await page.evaluate(() => new Promise(requestAnimationFrame));

    assert.ok(
      await old?.evaluate((element) => element.isConnected && element.contains(document.activeElement)),
    );
    await page.context().close();
  });

  it("are not compared in two zones: a finished build's page stays as it is", async () => {
    const page = await open("passed", { timezoneId: "Asia/Kolkata" });
    const row = await page.locator(".jobs > li", { hasText: /^\s*Unit tests/ }).elementHandle();

    const refreshed = page.waitForResponse((response) => response.request().resourceType() === "fetch");
    await page.evaluate(() => dispatchEvent(new Event("stale")));
    await (await refreshed).finished();
    await page.evaluate(() => new Promise(requestAnimationFrame));

    assert.ok(await row?.evaluate((element) => element.isConnected));
    await page.context().close();
  });
});
