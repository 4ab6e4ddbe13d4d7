import assert from "node:assert/strict";
import { before, it } from "node:test";
import { click, describeInBrowser, heading, mainText, openWindow, press } from "../../../helpers/browser.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

describeInBrowser("a test delivery", startQueuePages, (pages) => {
  before(() => pages.startWorkers());

  it("is sent, leads to its build, and is rebuilt", async () => {
    const { id } = await pages.acme.trigger({ type: "github", label: "Pushes", secret: "a secret of ours" });
    const page = await openWindow(pages.url, { cookie: await pages.cookieOf(pages.bob) });
    await page.goto(`/organizations/acme/pipelines/web/triggers/${id}`);

    await click(page, "Send a test delivery");
    await press(page, "Send");
    await page.getByText("built", { exact: true }).waitFor(); // without a reload
    await click(page, "#1");
    assert.match(await heading(page), /Web #1/);

    await click(page, "delivery");
    assert.match(await mainText(page), /octo-org\/octo-repo/);
    await press(page, "Build again");
    assert.match(await heading(page), /Web #2/);
    await click(page, "Pushes");
    assert.match(await mainText(page), /#1 #2/);
  });
});
