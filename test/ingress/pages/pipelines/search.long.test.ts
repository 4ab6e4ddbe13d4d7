import assert from "node:assert/strict";
import { before, it } from "node:test";
import { createBuildByHand } from "../../../../shared/builds/new-build.ts";
import { click, describeInBrowser, follow, mainText, openWindow, tabTo } from "../../../helpers/browser.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

describeInBrowser("by keyboard, without JavaScript, the search for builds", startQueuePages, (pages) => {
  before(async () => {
    const { services, actor, acme } = pages;
    for (const message of ["Faster loops", "New prices"])
      await createBuildByHand(services, actor, acme.pipeline, { message, branch: "topic" });
  });

  it("has addresses that others can open", async () => {
    const page = await openWindow(pages.url, {
      cookie: await pages.cookieOf(pages.bob),
      javaScriptEnabled: false,
    });
    await page.goto(pages.paths.pipeline);
    await click(page, "scheduled");
    await tabTo(page, "Search");
    await page.keyboard.press("Enter");
    await tabTo(page, "Part of the message");
    await page.keyboard.type("loops");
    await follow(page, () => page.keyboard.press("Enter"));

    const address = page.url();
    assert.match(address, /[?&]state=scheduled(&|$)/);
    assert.match(address, /[?&]message=loops(&|$)/);
    const hers = await openWindow(pages.url, { cookie: await pages.cookieOf(pages.ada) });
    await hers.goto(address);
    for (const each of [page, hers]) {
      assert.match(await mainText(each), /Faster loops/);
      assert.doesNotMatch(await mainText(each), /New prices/);
      assert.equal(await each.getByLabel("Part of the message").inputValue(), "loops");
    }
    await click(page, "failed");
    assert.match(await mainText(page), /No build matches/);
    await click(page, "Show all builds");
    assert.match(await mainText(page), /New prices/);
    for (const each of [page, hers]) await each.context().close();
  });
});
