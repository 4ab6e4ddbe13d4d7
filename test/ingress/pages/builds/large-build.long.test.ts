import assert from "node:assert/strict";
import { before, it } from "node:test";
import { eq } from "drizzle-orm";
import type { Page } from "playwright-core";
import type { Job } from "../../../../shared/builds/rows/job-store.ts";
import { findViolations } from "../../../helpers/accessibility.ts";
import { describeInBrowser, follow, openWindow } from "../../../helpers/browser.ts";
import { startQueuePages } from "../../../helpers/pages.ts";
import { failedJob, makeLargeBuild } from "./large-build.ts";

/** Before this page was made so, the first 100 jobs of such a build took 200 KB. */
const maxPageBytes = 1.5 * 200 * 1024;
const maxChangeBytes = 20 * 1024;
const desk = { width: 1440, height: 900 };

describeInBrowser("the page of a build with 190 jobs, one of which failed", startQueuePages, (pages) => {
  let path: string;
  let jobs: Job[];

  before(async () => {
    ({ path, jobs } = await makeLargeBuild(pages));
  });

  const open = async (options = {}) => {
    const cookie = await pages.cookieOf(pages.ada);
    const page = await openWindow(pages.url, { cookie, viewport: desk, ...options });
    const answer = await page.goto(path);
    return { page, bytes: (await answer?.body())?.length ?? 0 };
  };
  const faultsOf = async (page: Page) =>
    (await findViolations(page)).map(({ id, nodes }) => [id, nodes[0]?.html]);
  /** The bytes of the next refresh. */
  const refresh = async (page: Page) => {
    const refreshed = page.waitForResponse((response) => response.request().resourceType() === "fetch");
    await page.evaluate(() => dispatchEvent(new Event("stale")));
    const { length } = await (await refreshed).body();
    await page.evaluate(() => new Promise(requestAnimationFrame));
    return length;
  };
  const change = (id: string, values: Partial<Job>) => {
    const { db } = pages.services;
    return db.transaction((tx) => tx.update(tx.tables.jobs).set(values).where(eq(tx.tables.jobs.id, id)));
  };

  it("says what failed, with its lines, without scrolling", async () => {
    const { page, bytes } = await open();

    const failure = page.getByRole("article", { name: failedJob });
    const { y = 0, height = 0 } = (await failure.boundingBox()) ?? {};
    assert.ok(y + height <= desk.height, `ends at ${y + height}`);
    const text = await failure.innerText();
    assert.match(text, /exit status 1/);
    assert.match(text, /line 45 of the log/);
    assert.match(text, /Error: expected 201, got 402\s+at charge .*\s+1 of 13 contracts broken/);
    assert.ok(bytes <= maxPageBytes, `${bytes} bytes`);
    assert.equal(await page.locator(".jobs li[id]").count(), 191, "with the wait");
    assert.equal(await page.getByText("40 s slower than the median of the last 2").count(), 1);
    await page.context().close();
  });

  it("cuts no message, and keeps its paragraphs", async () => {
    const { page } = await open();

    const cut = await page
      .locator(".message")
      .evaluateAll((all) =>
        all
          .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
          .map((each) => each.textContent),
      );
    await page.locator(".message > summary").click();

    assert.deepEqual(cut, []);
    const text = await page.locator(".message > p").innerText();
    assert.match(text, /once only\n\nThe provider .*\nis kept/);
    await page.context().close();
  });

  it("gets only what changed", async () => {
    const { page } = await open();
    const job = jobs.find(({ label }) => label === "Package 7") as Job;
    const row = page.locator(`[id="${job.id}"]`);
    const marked = page.locator("[data-kept]");
    await page.evaluate(() => {
      for (const each of document.querySelectorAll<HTMLElement>(".jobs li[id]")) each.dataset.kept = "";
    });
    // An attribute makes rows differ from the next page's. Of those that are left out, the present ones stay.
    const unchanged = await refresh(page);
    assert.equal(await marked.count(), 191);

    await change(job.id, { state: "failed", exitStatus: 2 });
    const bytes = await refresh(page);

    await change(job.id, { state: "passed", exitStatus: 0 });
    assert.ok(unchanged <= maxChangeBytes, `${unchanged} bytes`);
    assert.ok(bytes <= maxChangeBytes, `${bytes} bytes`);
    assert.match(await row.innerText(), /exit status 2/);
    assert.equal(await marked.count(), 190);
    assert.equal(await page.getByRole("article", { name: "Package 7" }).count(), 1);
    await page.context().close();
  });

  it("has the jobs of a state and of a name, also without scripts", async () => {
    const { page } = await open({ javaScriptEnabled: false });
    await follow(page, () => page.getByRole("link", { name: /^Failed \d/ }).click());
    assert.deepEqual(await page.locator(".jobs .what > a").allInnerTexts(), [failedJob]);
    await page.goto(path);
    await page.getByRole("searchbox", { name: "Name of a job" }).fill("deploy");
    await follow(page, () => page.keyboard.press("Enter"));
    const found = await page.locator(".jobs .what > a").allInnerTexts();
    assert.deepEqual(found, ["Deploy to staging", "Deploy to production"]);
    await page.context().close();
  });

  it("compares with the last build that passed", async () => {
    const { page } = await open();
    await follow(page, () => page.getByRole("link", { name: "Compare" }).click());

    const rows = await page.getByRole("row").allInnerTexts();

    assert.deepEqual(
      rows.map((row) => row.split("\t")[0]),
      ["Job", failedJob, "Deploy to staging", "Deploy to production"],
    );
    const commits = page.getByRole("link", { name: "commits between them" });
    const url = `https://github.com/acme/shop/compare/${"1".repeat(40)}...${"2".repeat(40)}`;
    assert.equal(await commits.getAttribute("href"), url);
    assert.deepEqual(await faultsOf(page), []);
    await page.context().close();
  });

  for (const colorScheme of ["light", "dark"] as const)
    for (const width of [320, 390, 1440, 1920])
      it(`fits ${width} pixels without faults of accessibility, ${colorScheme}`, async () => {
        const { page } = await open({ colorScheme, viewport: { width, height: 900 } });
        const room = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(room <= width, `${room} pixels`);
        assert.deepEqual(await faultsOf(page), []);
        await page.context().close();
      });

  it("retries a failed job beside its lines", async () => {
    const { page } = await open();

    const failure = page.getByRole("article", { name: failedJob });
    await follow(page, () => failure.getByRole("button", { name: `Retry ${failedJob}` }).click());

    assert.equal(await failure.count(), 0);
    assert.match(await page.getByRole("region", { name: "History" }).innerText(), /Ada retried Contract/);
    await page.context().close();
  });
});
