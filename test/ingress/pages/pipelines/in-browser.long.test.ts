import assert from "node:assert/strict";
import { it } from "node:test";
import { requirePipeline } from "../../../../shared/pipelines/pipelines.ts";
import { describeInBrowser, follow, heading, openWindow, press, tabTo } from "../../../helpers/browser.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

describeInBrowser("a user who makes pipelines in a browser", startQueuePages, (pages) => {
  const stepsOf = async (slug: string) =>
    (await requirePipeline(pages.services.db, pages.acme.id, slug)).steps;

  it("adds, moves and removes steps without JavaScript, and saves by Enter", async () => {
    const cookie = await pages.cookieOf(pages.bob);
    const page = await openWindow(pages.url, { cookie, javaScriptEnabled: false });
    await page.goto("/organizations/acme/new-pipeline");
    const step = (number: number) => page.getByRole("group", { name: `Step ${number}` });
    await page.getByLabel("Name").fill("Shop");
    await step(1).getByLabel("Command").fill("npm test");
    await press(page, "Add a step");
    await page.locator("#field-step-1-command:focus").waitFor();
    await page.keyboard.type("npm run build");
    await press(page, "Add a wait");
    await press(page, "Move step 3 up");
    await press(page, "Add a step");
    await press(page, "Remove step 4");
    await press(page, "Edit as JSON");
    assert.match(await page.getByLabel("Steps as JSON").inputValue(), /"type": "wait"/);
    await press(page, "Edit as a form");
    await step(3).getByLabel("Label").fill("Build");

    await follow(page, () => page.getByLabel("Name").press("Enter"));

    assert.equal(await heading(page), "Shop");
    assert.deepEqual(await stepsOf("shop"), [
      { command: "npm test" },
      { type: "wait" },
      { label: "Build", command: "npm run build" },
    ]);
    await page.context().close();
  });

  it("mends a refused form by keyboard alone", async () => {
    const page = await openWindow(pages.url, { cookie: await pages.cookieOf(pages.bob) });
    const { keyboard } = page;
    await page.goto("/organizations/acme/new-pipeline");
    await tabTo(page, "Name");
    await keyboard.type("By keyboard");
    await tabTo(page, "Queue");
    await keyboard.type("nowhere");
    await tabTo(page, "Create pipeline");
    await follow(page, () => keyboard.press("Enter"));
    await page.locator("#field-step-0-command:focus").waitFor();
    await keyboard.type("make");
    await tabTo(page, "Create pipeline");
    await follow(page, () => keyboard.press("Enter"));
    await page.locator("#field-step-0-queue:focus").waitFor();
    assert.equal(
      await page.locator("#field-step-0-queue-problem").innerText(),
      "Steps name the queue nowhere, which the cluster does not have.",
    );
    await keyboard.press("ControlOrMeta+a");
    await keyboard.type("default");
    await follow(page, () => keyboard.press("Enter"));

    assert.equal(await heading(page), "By keyboard");
    assert.deepEqual(await stepsOf("by-keyboard"), [{ command: "make", agents: { queue: "default" } }]);
    await page.context().close();
  });
});
