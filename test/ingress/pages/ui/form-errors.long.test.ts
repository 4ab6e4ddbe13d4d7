import assert from "node:assert/strict";
import { before, it } from "node:test";
import type { Page } from "playwright-core";
import { describeInBrowser, openWindow, press } from "../../../helpers/browser.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

describeInBrowser("a form that is refused", startQueuePages, (pages) => {
  let page: Page;

  before(async () => {
    const cookie = await pages.cookieOf(pages.ada);
    page = await openWindow(pages.url, { cookie, javaScriptEnabled: false });
  });

  it("marks and focuses the field of the error", async () => {
    await page.goto(`${pages.paths.cluster}/queues/new`);
    await page.getByLabel("Key").fill("not a key");

    assert.equal((await press(page, "Create queue")).status(), 422);

    const key = page.locator("#field-key:focus");
    await key.waitFor();
    assert.equal(await key.getAttribute("aria-invalid"), "true");
    assert.equal(await key.getAttribute("aria-describedby"), "field-key-problem field-key-hint");
    for (const place of ["#form-error", "#field-key-problem"])
      assert.match(await page.locator(place).innerText(), /^Key can only contain/);
    assert.equal(await page.locator("[aria-invalid]").count(), 1);
  });

  it("marks a wrong password", async () => {
    await page.goto("/user/password");
    await page.getByLabel("Current password").fill("wrong password");
    await page.getByLabel("New password", { exact: true }).fill("another good password");
    await page.getByLabel("New password once more").fill("another good password");
    await press(page, "Change password");
    await page.locator("#field-present[aria-invalid]:focus").waitFor();
  });

  it("focuses an error without a field", async () => {
    await page.goto(`${pages.paths.cluster}/delete`);

    await press(page, "Delete");

    await page.locator("#form-error:focus").waitFor();
    await page.keyboard.press("Tab");
    assert.equal(await page.locator(":focus").innerText(), "Web");
  });
});
