import assert from "node:assert/strict";
import { before, beforeEach, it } from "node:test";
import type { Page } from "playwright-core";
import { createBuildByHand } from "../../../../shared/builds/making/by-request.ts";
import { createPipeline, defaultStep } from "../../../../shared/pipelines/pipelines.ts";
import { describeInBrowser, openWindow } from "../../../helpers/browser.ts";
import { startPages } from "../../../helpers/pages.ts";

const pipelinesPath = "/organizations/acme/pipelines";

describeInBrowser("keys of all pages", startPages, (pages) => {
  let page: Page;

  before(async () => {
    const { services, acme } = pages;
    const actor = { organization: acme, userId: pages.ada.id };
    for (const name of ["Webshop", "Wiki"])
      await createPipeline(services, actor, { name, steps: [defaultStep], clusterId: acme.cluster.id });
    await createBuildByHand(services, actor, acme.pipeline, { message: "Wait for the kettle" });
    page = await openWindow(pages.url, {
      cookie: await pages.cookieOf(pages.ada),
      viewport: { width: 1440, height: 900 },
    });
  });
  beforeEach(() => page.goto(pipelinesPath));

  const field = () => page.getByRole("combobox", { name: "Search" });
  const options = () => page.getByRole("option").allInnerTexts();
  const pathOf = () => new URL(page.url()).pathname;
  const focused = () => page.evaluate(() => document.activeElement?.textContent ?? "");

  it("Ctrl K and / lead to the field of the search", async () => {
    for (const key of ["Control+k", "/"]) {
      await page.goto(pipelinesPath);
      await page.keyboard.press(key);
      assert.equal(await field().evaluate((each) => each === document.activeElement), true, key);
      assert.equal(await field().inputValue(), "", key);
    }
  });

  it("finds as one types: arrows choose, Enter leads there, Escape closes", async () => {
    await field().fill("kett");
    await page.getByRole("option", { name: "Wait for the kettle" }).waitFor();
    await page.keyboard.press("Escape");
    assert.deepEqual([await options(), await field().inputValue()], [[], "kett"]);

    await field().fill("web");
    await page.getByRole("option", { name: "Webshop" }).waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    const chosen = await page.getByRole("option", { selected: true }).innerText();
    assert.match(chosen, /^Webshop/);
    assert.equal(
      await field().getAttribute("aria-activedescendant"),
      await page.getByRole("option", { selected: true }).getAttribute("id"),
    );
    await page.keyboard.press("Enter");
    await page.waitForURL("**/pipelines/webshop");
  });

  it("leads to the page of the search by Enter alone", async () => {
    await field().fill("web");
    await page.getByRole("option", { name: "Webshop" }).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL("**/search?q=web");
  });

  it("leads to sections by two letters", async () => {
    for (const [key, path] of [
      ["b", "builds"],
      ["a", "clusters"],
      ["p", "pipelines"],
    ] as const) {
      await page.keyboard.press("g");
      await page.keyboard.press(key);
      await page.waitForURL(`**/organizations/acme/${path}`);
    }
  });

  it("goes through the rows of a list", async () => {
    const names: string[] = [];
    for (const key of ["j", "j", "k"]) {
      await page.keyboard.press(key);
      names.push(await focused());
    }
    assert.equal(names[0], names[2]);
    assert.notEqual(names[0], names[1]);
    assert.equal(names[0], await page.locator("main tbody tr a, main li a").first().innerText());
  });

  it("shows the keys in a dialog, and does nothing behind it", async () => {
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    await page.keyboard.press("/");
    assert.equal(await field().evaluate((each) => each === document.activeElement), false);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  });

  it("leaves letters to fields, and keys with modifiers to the browser", async () => {
    await page.keyboard.press("Alt+j");
    assert.equal(await page.evaluate(() => document.activeElement === document.body), true);
    await field().press("j");
    await field().press("?");
    assert.equal(await field().inputValue(), "j?");
    assert.equal(await page.getByRole("dialog").count(), 0);
  });

  it("obeys the user who turns letters off: Ctrl K stays", async () => {
    const choose = async (isOn: boolean) => {
      await page.goto("/user/keyboard");
      await page.getByLabel("Keyboard shortcuts of single letters").setChecked(isOn);
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText("Your choice is saved.").waitFor();
      await page.goto(pipelinesPath);
    };
    await choose(false);

    for (const key of ["g", "b", "j", "?", "/"]) await page.keyboard.press(key);
    assert.deepEqual([pathOf(), await page.getByRole("dialog").count()], [pipelinesPath, 0]);
    assert.equal(await page.evaluate(() => document.activeElement === document.body), true);
    await page.keyboard.press("Control+k");
    assert.equal(await field().evaluate((each) => each === document.activeElement), true);

    await choose(true);
    await page.keyboard.press("j");
    assert.notEqual(await focused(), "");
  });
});
