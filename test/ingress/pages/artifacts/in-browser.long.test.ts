import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { describeInBrowser, follow, heading, mainText, openWindow, tabTo } from "../../../helpers/browser.ts";
import { sqlite } from "../../../helpers/databases.ts";
import { type Pages, startPages } from "../../../helpers/pages.ts";
import { exhibit } from "../looks/every-page.ts";

for (const isScripted of [true, false])
  describeInBrowser(`the pages of artifacts, ${isScripted ? "with" : "without"} JavaScript`, () => {
    let pages: Pages;
    let list: string;

    before(async () => {
      pages = await startPages(sqlite);
      list = (await exhibit(pages)).artifacts.list;
    });
    after(() => pages.close());

    it("fold folders, show a file and delete it by keyboard alone", async () => {
      const cookie = await pages.cookieOf(pages.ada);
      const page = await openWindow(pages.url, { cookie, javaScriptEnabled: isScripted });
      const pressEnter = () => follow(page, () => page.keyboard.press("Enter"));
      await page.goto(list);
      await tabTo(page, "compile/");
      await page.keyboard.press("Enter");
      assert.equal(await page.getByRole("link", { name: "all.txt", exact: true }).isVisible(), false);
      await page.keyboard.press("Enter");
      await tabTo(page, "all.txt");
      await pressEnter();
      assert.equal(await heading(page), "all.txt");
      assert.match(await mainText(page), /compiling emitter\.ts/);

      await tabTo(page, "Delete");
      await pressEnter();
      assert.match(await page.getByRole("status").innerText(), /deleted/);
    });
  });
