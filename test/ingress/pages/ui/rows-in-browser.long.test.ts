import assert from "node:assert/strict";
import { before, it } from "node:test";
import { isNotNull } from "drizzle-orm";
import type { Page } from "playwright-core";
import { updateOrganization } from "../../../../shared/accounts/organizations.ts";
import { newId } from "../../../../shared/ids.ts";
import { requirePipeline } from "../../../../shared/pipelines/pipelines.ts";
import { createTrigger } from "../../../../shared/triggers/create.ts";
import { describeInBrowser, openWindow } from "../../../helpers/browser.ts";
import { buildWebhook, decideDue } from "../../../helpers/builds.ts";
import { post } from "../../../helpers/http.ts";
import { startQueuePages } from "../../../helpers/pages.ts";
import { makeLargeBuild } from "../builds/large-build.ts";

/** With its border. */
const maxRow = 41;
const maxRowOnPhone = 58;
const desk = { width: 1440, height: 900 };
const smallDesk = { width: 1280, height: 800 };
const small = { width: 320, height: 640 };
const phone = { width: 390, height: 800 };
const tablet = { width: 768, height: 1024 };

describeInBrowser("rows and columns", startQueuePages, (pages) => {
  let page: Page;
  let build: string;
  let trigger: string;

  before(async () => {
    ({ path: build } = await makeLargeBuild(pages));
    const features = { webhook_filtering: true };
    const organization = await updateOrganization(pages.services, "acme", { features });
    const pipeline = await requirePipeline(pages.services.db, organization.id, "shop");
    const actor = { ...pages.actor, organization };
    const made = await createTrigger(pages.services, actor, pipeline, {
      type: "github",
      label: "Pushes",
      filter: "false",
    });
    for (let sent = 0; sent < 3; sent++)
      await post(`${pages.url}/deliver/${made.token}`, "{}", { "X-GitHub-Delivery": newId(new Date()) });
    await decideDue(pages.services);
    trigger = `${pages.paths.pipelines}/shop/triggers/${made.trigger.id}`;
    page = await openWindow(pages.url, { cookie: await pages.cookieOf(pages.ada) });
  });

  const heightOf = (selector: string) =>
    page
      .locator(selector)
      .evaluateAll((all) => Math.max(...all.map((each) => each.getBoundingClientRect().height)));

  it("have one line on a desk: a delivery beside why it made no build", async () => {
    await page.setViewportSize(desk);
    await page.goto(trigger);

    assert.equal(await page.locator("tbody .reason").count(), 3);
    const height = await heightOf("tbody tr");
    assert.ok(height <= maxRow, `${height} pixels`);
  });

  it("have one line on a desk: a delivery beside its build, whose long branch and message are cut", async () => {
    const { builds } = pages.services.db.tables;
    const { path } = await pages.acme.trigger({ label: "Pushes to the shop and its warehouse" }, "shop");
    await buildWebhook(pages, path);
    const texts = { branch: "renovate/all-".repeat(19), message: "Raise the version ".repeat(20) };
    await pages.services.db.transaction((tx) =>
      tx.update(builds).set(texts).where(isNotNull(builds.deliveryId)),
    );
    await buildWebhook(pages, path);

    for (const viewport of [desk, smallDesk, tablet, phone, small]) {
      await page.setViewportSize(viewport);
      await page.goto("/organizations/acme/deliveries");
      const width = await page
        .locator(".table")
        .evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth);
      assert.equal(width, 0, `${viewport.width}`);
      const height = await heightOf("tbody tr");
      if (viewport.width >= smallDesk.width) assert.ok(height <= maxRow, `${height} pixels`);
    }
    assert.equal(await page.locator(".result > .branch").nth(1).getAttribute("title"), texts.branch);
  });

  it("have one line on a desk: what is said of members and clusters is beside their names", async () => {
    await page.setViewportSize(desk);
    for (const path of ["/organizations/acme/members", pages.paths.clusters]) {
      await page.goto(path);

      assert.ok((await page.locator(".entry").count()) > 0, path);
      const height = await heightOf(".entry");
      assert.ok(height <= maxRow, `${path}: ${height} pixels`);
    }
  });

  it("lay out the steps of a stage side by side if they are many", async () => {
    await page.setViewportSize(desk);
    await page.goto(build);

    const height = await heightOf(".stages");
    assert.ok(height <= 500, `${height} pixels`); // one below the other take 770
  });

  it("of lists fit a phone, and name what does not say it itself", async () => {
    await page.setViewportSize(phone);
    for (const path of [pages.paths.clusters, `${pages.paths.pipelines}/shop/triggers`, trigger]) {
      await page.goto(path);

      const table = page.locator(".table.list").first();
      assert.ok(await table.evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth), path);
    }
    await page.goto(pages.paths.clusters);
    const label = page.locator("[data-label=Waiting]").first();
    assert.match(await label.evaluate((cell) => getComputedStyle(cell, "::before").content), /Waiting/);
    assert.equal(await page.getByRole("columnheader", { name: "Waiting" }).count(), 1, "for screen readers");
  });

  it("have two lines on the smallest phone, and give no menu a line of its own", async () => {
    await page.setViewportSize(small);
    await page.goto("/organizations/acme/builds");
    const height = await heightOf(".builds > li");
    assert.ok(height <= maxRowOnPhone, `${height} pixels`);

    await page.goto(build);
    await page.locator(".jobs > li:not(.folded) .what > a").first().click();
    const [title, menu] = await Promise.all(
      [".job-head h1", ".job-head .more"].map((each) => page.locator(each).boundingBox()),
    );
    assert.ok(title && menu && menu.y < title.y + title.height, "the menu is beside the title");
  });

  it("of jobs have no room for a button that is not seen", async () => {
    await page.setViewportSize(phone);
    await page.goto(build);

    const row = page.locator(".jobs li.failed").first();
    const button = row.getByRole("button", { name: "Retry" });
    assert.equal(await button.locator("..").evaluate((act) => getComputedStyle(act).opacity), "0");
    const height = await heightOf(".jobs li.failed");
    assert.ok(height <= maxRow, `${height} pixels`);
    await row.hover();
    assert.equal(await button.locator("..").evaluate((act) => getComputedStyle(act).opacity), "1");
  });

  it("of a head begin at its edge without a dot, apart from the buttons above", async () => {
    await page.setViewportSize(phone);
    for (const [path, line] of [
      [build, ".build-head .line"],
      ["/organizations/acme", ".numbers"],
    ] as const) {
      await page.goto(path);

      const edge = (await page.locator("main").boundingBox())?.x ?? 0;
      const padding = await page.locator("main").evaluate((main) => getComputedStyle(main).paddingLeft);
      const items = await page.locator(`${line} > *`).evaluateAll((all) =>
        all.map((each) => ({
          y: each.getBoundingClientRect().y,
          start: each.getBoundingClientRect().x + Number.parseFloat(getComputedStyle(each).paddingLeft),
          after: getComputedStyle(each, "::after").content,
        })),
      );
      const firsts = items.filter(
        ({ start }, index) => index === 0 || start <= (items[index - 1]?.start ?? 0),
      );
      assert.ok(firsts.length > 1, `${path} has one row`);
      for (const { start } of firsts) assert.equal(start, edge + Number.parseFloat(padding), path);
      assert.ok(items.every(({ after }) => after === "none"));
      assert.match(await page.locator(line).evaluate((all) => getComputedStyle(all).clipPath), /^inset\(/);
    }
    await page.goto(build);
    const [buttons, below] = await Promise.all(
      [".build-head .actions", ".build-head .line"].map((each) => page.locator(each).boundingBox()),
    );
    assert.ok(buttons && below && below.y - buttons.y - buttons.height >= 6);
  });

  it("leave the name of the organization its room in the head of a tablet", async () => {
    await page.setViewportSize(tablet);
    await page.goto(build);

    const name = page.locator(".owner .name").first();
    assert.ok(await name.evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth));
  });
});
