import assert from "node:assert/strict";
import { before, it } from "node:test";
import { describeInBrowser, follow, heading, mainText, openWindow, tabTo } from "../../../helpers/browser.ts";
import { startPages } from "../../../helpers/pages.ts";
import { type Exhibits, exhibit } from "../looks/every-page.ts";

/** The page replaces what differs as soon as it has parsed the answer. */
const refreshing = `new Promise((resolve) => {
  addEventListener("parsed", () => resolve(), { once: true });
  dispatchEvent(new Event("stale"));
})`;

describeInBrowser("the pages of artifacts in a browser", startPages, (pages) => {
  let artifacts: Exhibits["artifacts"];

  before(async () => {
    ({ artifacts } = await exhibit(pages));
  });

  it("fold folders, show a file and delete it by keyboard alone", async () => {
    const cookie = await pages.cookieOf(pages.ada);
    const page = await openWindow(pages.url, { cookie });
    const pressEnter = () => follow(page, () => page.keyboard.press("Enter"));
    await page.goto(artifacts.list);
    await tabTo(page, "compile/");
    await page.keyboard.press("Enter");
    await page.evaluate(refreshing);
    await page.getByRole("link", { name: "all.txt", exact: true }).waitFor({ state: "hidden" });
    await page.keyboard.press("Enter");
    await tabTo(page, "all.txt");
    await pressEnter();
    assert.equal(await heading(page), "all.txt");
    assert.match(await mainText(page), /compiling emitter\.ts/);

    await tabTo(page, "Delete");
    await pressEnter();
    assert.match(await page.getByRole("status").innerText(), /deleted/);
  });

  it("show a picture, which the policy of the page lets in", async () => {
    const page = await openWindow(pages.url, { cookie: await pages.cookieOf(pages.ada) });
    const { origin } = new URL(pages.services.config.baseUrl);
    await page.route(`${origin}/**`, async (route) => {
      const { pathname, search } = new URL(route.request().url());
      const response = await fetch(pages.url + pathname + search);
      const body = Buffer.from(await response.arrayBuffer());
      await route.fulfill({ status: response.status, headers: Object.fromEntries(response.headers), body });
    });

    await page.goto(artifacts.picture);

    const picture = page.locator("img.picture");
    assert.equal(await picture.evaluate((element) => (element as HTMLImageElement).naturalWidth), 1);
  });
});
