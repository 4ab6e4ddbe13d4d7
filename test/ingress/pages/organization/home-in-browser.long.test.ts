import assert from "node:assert/strict";
import { before, it } from "node:test";
import type { Page } from "playwright-core";
import { addMember } from "../../../../shared/accounts/members.ts";
import { asOperator, createOrganization } from "../../../../shared/accounts/organizations.ts";
import { createCluster } from "../../../../shared/clusters/clusters.ts";
import { createPipeline } from "../../../../shared/pipelines/pipelines.ts";
import { createQueue } from "../../../../shared/queues/queues.ts";
import { createTrigger } from "../../../../shared/triggers/create.ts";
import { describeInBrowser, follow, heading, openWindow } from "../../../helpers/browser.ts";
import { buildWebhook } from "../../../helpers/builds.ts";
import { eventually } from "../../../helpers/http.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

describeInBrowser("home in a browser", startQueuePages, (pages) => {
  let page: Page;

  before(async () => {
    page = await openWindow(pages.url, { cookie: await pages.cookieOf(pages.ada) });
  });

  it("leads from the numbers to what they count", async () => {
    for (const [text, title] of [
      ["run", "Builds"],
      ["blocked for you", "Builds"],
      ["agents busy", "Agents"],
    ] as const) {
      await page.goto("/organizations/acme");
      await follow(page, () => page.locator(".numbers a", { hasText: text }).first().click());
      assert.equal(await heading(page), title);
    }
  });

  it("shows the text of each first step whole", async () => {
    const { services, ada } = pages;
    await createOrganization(services, { slug: "first", name: "First" });
    await addMember(services, { organization: "first", email: ada.email, role: "admin" });
    const isCut = (names: Element[]) => names.map((name) => name.scrollWidth > name.clientWidth);
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 800 });
      await page.goto("/organizations/first");
      const cut = await page.locator(".checklist .name").evaluateAll(isCut);
      assert.deepEqual(cut, Array(9).fill(false), String(width));
    }
    await page.setViewportSize({ width: 1280, height: 720 });
  });

  it("filters pipelines as one types, and by a form without scripts", async () => {
    const { services, actor, acme } = pages;
    const steps = [{ command: "make" }];
    await createPipeline(services, actor, { clusterId: acme.cluster.id, slug: "shop", name: "Shop", steps });
    const names = (on: Page) => on.locator(".pipelines .name:visible").allInnerTexts();
    await page.goto("/organizations/acme");
    assert.deepEqual(await names(page), ["Web", "Shop"]);

    const field = page.getByRole("searchbox", { name: "Filter pipelines by name" });
    await field.pressSequentially("sHo");
    assert.deepEqual(await names(page), ["Shop"]);
    await field.clear();
    assert.deepEqual(await names(page), ["Web", "Shop"]);

    const cookie = await pages.cookieOf(pages.ada);
    const without = await openWindow(pages.url, { cookie, javaScriptEnabled: false });
    await without.goto("/organizations/acme");
    await without.getByRole("searchbox", { name: "Filter pipelines by name" }).fill("we");
    await follow(without, () => without.keyboard.press("Enter"));
    assert.deepEqual(await names(without), ["Web"]);
    await without.context().close();
  });

  it("shows starred pipelines first, starred by a button with and without scripts", async () => {
    const names = (on: Page) => on.locator(".pipelines .name:visible").allInnerTexts();
    const button = (on: Page, name: string) => on.getByRole("button", { name, exact: true });
    await page.goto("/organizations/acme");
    await follow(page, () => button(page, "Star pipeline Shop").press("Enter"));
    assert.deepEqual(await names(page), ["Shop", "Web"]);

    const cookie = await pages.cookieOf(pages.ada);
    const without = await openWindow(pages.url, { cookie, javaScriptEnabled: false });
    await without.goto("/organizations/acme/pipelines");
    assert.deepEqual(await without.locator(".entry h2").allInnerTexts(), ["Shop", "Web"]);
    await follow(without, () => button(without, "Unstar pipeline Shop").click());
    assert.deepEqual(await without.locator(".entry h2").allInnerTexts(), ["Web", "Shop"]);
    await without.context().close();
    await eventually("the page to follow", async () => (await names(page)).join() === "Web,Shop");
  });

  it("ticks first steps by itself", async () => {
    const { services, ada } = pages;
    const organization = await createOrganization(services, { slug: "fresh", name: "Fresh" });
    await addMember(services, { organization: "fresh", email: ada.email, role: "admin" });
    const operator = await asOperator(services.db, organization);
    const cluster = await createCluster(services, operator, { name: "Primary" });
    await createQueue(services, operator, cluster, { key: "default", isDefault: true });
    const input = { clusterId: cluster.id, name: "First", steps: [{ command: "make" }] };
    const pipeline = await createPipeline(services, operator, input);
    const hook = { type: "webhook", label: "Hook" } as const;
    const { token } = await createTrigger(services, operator, pipeline, hook);
    await page.goto("/organizations/fresh");
    const title = page.getByRole("heading", { name: /First steps/ });
    assert.match(await title.innerText(), /5 to do/);
    assert.equal(await page.getByRole("button", { name: "Copy npm run login" }).isVisible(), true);

    await buildWebhook(pages, `/deliver/${token}`);

    await eventually("the tick of the first delivery", async () => /4 to do/.test(await title.innerText()));
  });
});
