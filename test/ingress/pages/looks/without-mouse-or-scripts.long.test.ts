import assert from "node:assert/strict";
import { it } from "node:test";
import { describeInBrowser, follow, heading, openWindow, tabTo } from "../../../helpers/browser.ts";
import { password } from "../../../helpers/organization.ts";
import { startPages } from "../../../helpers/pages.ts";

describeInBrowser("the pages", startPages, (pages) => {
  it("connect a device by keyboard alone", async () => {
    const page = await openWindow(pages.url);
    const { keyboard } = page;
    const codes = await pages.authorize({ scope: "read_user" });
    await page.goto("/oauth/device");

    await page.locator("#field-email:focus").waitFor(); // autofocus
    await keyboard.type(pages.ada.email);
    await keyboard.press("Tab");
    await keyboard.type(password);
    await follow(page, () => keyboard.press("Enter"));
    await tabTo(page, "Code");
    await keyboard.type(codes.user_code);
    await follow(page, () => keyboard.press("Enter"));
    assert.equal(await heading(page), "Authorize Deploy CLI?");
    await tabTo(page, "Globex Corporation"); // first of two
    await keyboard.press("ArrowDown");
    await tabTo(page, "Authorize");
    await follow(page, () => keyboard.press("Enter"));

    assert.equal(await heading(page), "Device connected");
    await page.context().close();
  });

  it("show the focus, and offer a link that skips the header", async () => {
    const page = await openWindow(pages.url, { cookie: await pages.cookieOf(pages.ada) });
    await page.goto("/user/connected-apps");
    await page.keyboard.press("Tab");
    const skip = page.getByRole("link", { name: "Skip to the content" });
    assert.ok(await skip.evaluate((element) => element === document.activeElement));
    assert.ok(((await skip.boundingBox())?.x ?? -1) >= 0, "it is in view once it has the focus");
    assert.notEqual(await skip.evaluate((element) => getComputedStyle(element).outlineStyle), "none");

    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");

    const focused = page.locator(":focus");
    assert.equal(await focused.evaluate((element) => element.closest("main")?.id), "main");
    await page.context().close();
  });

  it("open and close the menu by keyboard", async () => {
    const page = await openWindow(pages.url, { cookie: await pages.cookieOf(pages.ada) });
    await page.goto("/");
    await tabTo(page, "Ada");

    await page.keyboard.press("Enter");
    await tabTo(page, "API access tokens");
    await follow(page, () => page.keyboard.press("Enter"));

    assert.equal(await heading(page), "API access tokens");
    await page.context().close();
  });
});
