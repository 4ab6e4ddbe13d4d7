import assert from "node:assert/strict";
import { before, it } from "node:test";
import type { Page } from "playwright-core";
import { describeInBrowser, follow, heading, mainText, openWindow, tabTo } from "../../../helpers/browser.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

describeInBrowser("the pages of secrets, without JavaScript", startQueuePages, (pages) => {
  let page: Page;

  before(async () => {
    const cookie = await pages.cookieOf(pages.ada);
    page = await openWindow(pages.url, { cookie, javaScriptEnabled: false });
    await page.goto(`${pages.paths.cluster}/secrets`);
  });

  const pressEnter = () => follow(page, () => page.keyboard.press("Enter"));
  const notice = () => page.getByRole("status").innerText();

  it("make, replace and delete a secret by keyboard alone", async () => {
    await tabTo(page, "New secret");
    await page.keyboard.press("Enter");
    await tabTo(page, "Key");
    await page.keyboard.type("DEPLOY_TOKEN");
    await tabTo(page, "Value");
    await page.keyboard.type("swordfish");
    await tabTo(page, "Policy");
    await page.keyboard.type("- pipeline_slug: web");
    await tabTo(page, "Create secret");
    await pressEnter();
    assert.match(await notice(), /created/);
    assert.match(await mainText(page), /DEPLOY_TOKEN For jobs that its policy allows/);

    await tabTo(page, "DEPLOY_TOKEN");
    await pressEnter();
    await tabTo(page, "Value");
    await page.keyboard.type("cuttlefish");
    await tabTo(page, "Replace the value");
    await pressEnter();
    assert.equal(await heading(page), "DEPLOY_TOKEN");
    assert.doesNotMatch(await page.content(), /swordfish|cuttlefish/);

    await tabTo(page, "Delete");
    await pressEnter();
    await tabTo(page, "Delete");
    await pressEnter();
    assert.match(await notice(), /deleted/);
    assert.match(await mainText(page), /No secret yet/);
  });
});
