import assert from "node:assert/strict";
import { before, it } from "node:test";
import { describeInBrowser, follow, heading, openWindow, tabTo } from "../../../helpers/browser.ts";
import { startPages } from "../../../helpers/pages.ts";
import { exhibitSteps } from "../looks/step-looks.ts";

describeInBrowser("the pages of concurrency groups in a browser", startPages, (pages) => {
  before(() => exhibitSteps(pages));

  it("lead from the clusters to a job that holds a group, by keyboard alone", async () => {
    const page = await openWindow(pages.url, { cookie: await pages.cookieOf(pages.ada) });
    await page.goto("/organizations/globex/clusters");
    for (const name of ["Concurrency groups", "deployments-to-production", "./open.sh"]) {
      await tabTo(page, name);
      await follow(page, () => page.keyboard.press("Enter"));
    }
    assert.equal(await heading(page), "./open.sh scheduled");
  });
});
