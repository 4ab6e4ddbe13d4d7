import assert from "node:assert/strict";
import { afterEach, it } from "node:test";
import type { BrowserContextOptions, Page } from "playwright-core";
import {
  click,
  describeInBrowser,
  follow,
  heading,
  mainText,
  openWindow,
  press,
} from "../../../helpers/browser.ts";
import { post } from "../../../helpers/http.ts";
import { startTriggerPages, triggersPath } from "./trigger-pages.ts";

describeInBrowser("a user who manages triggers in a browser", startTriggerPages, (pages) => {
  afterEach(() => pages.clear());

  const open = async (path: string, options: BrowserContextOptions = {}) => {
    const page = await openWindow(pages.url, { cookie: await pages.cookieOf(pages.bob), ...options });
    await page.goto(path);
    return page;
  };
  const deliver = async (url: string) => (await post(pages.url + new URL(url).pathname, "{}")).status;
  const urlOn = (page: Page) => page.getByLabel("URL", { exact: true }).inputValue();
  const create = async (page: Page, label: string) => {
    await page.getByLabel("Webhook", { exact: false }).first().check();
    await page.getByLabel("Label").fill(label);
    await press(page, "Create trigger");
    assert.equal(await heading(page), "Trigger created");
  };
  const isUrlShown = async (page: Page) => (await page.content()).includes("/deliver/sbtr_");

  it("sees a new trigger's URL once: not after a reload, Back or Forward", async () => {
    const page = await open("/organizations/acme/pipelines/web");
    await click(page, "Triggers");
    assert.match(await mainText(page), /No trigger yet/);
    await click(page, "New trigger");
    await create(page, "Nightly");
    const url = await urlOn(page);
    assert.equal(await deliver(url), 201);

    await follow(page, () => page.reload());
    assert.equal(await heading(page), "This trigger was already created");
    assert.equal(await isUrlShown(page), false);

    await click(page, "Go to “Nightly”");
    assert.match(await mainText(page), /Nightly/);
    assert.equal(await isUrlShown(page), false);
    await page.goto(`${triggersPath}/new`);
    await create(page, "Weekly");
    await page.goBack();
    assert.equal(await heading(page), "New trigger of Web Public preview");
    const forward = await page.goForward().catch((error: Error) => error.message);
    assert.match(String(forward), /ERR_CACHE_MISS/); // the browser must not send the form again
    await page.waitForURL("chrome-error://**");
    assert.equal(await isUrlShown(page), false);
    assert.deepEqual((await pages.present()).map(({ label }) => label).sort(), ["Nightly", "Weekly"]);
    await page.context().close();
  });

  it("sees the URL after a double click", async () => {
    const page = await open(`${triggersPath}/new`);
    await page.getByLabel("Webhook", { exact: false }).first().check();
    await page.getByLabel("Label").fill("Twice");
    await follow(page, () => page.getByRole("button", { name: "Create trigger" }).dblclick());

    assert.equal(await heading(page), "Trigger created");
    assert.equal(await deliver(await urlOn(page)), 201);
    assert.equal((await pages.present()).length, 1);
    await page.context().close();
  });

  it("copies the URL and the command with a button", async () => {
    const page = await open(`${triggersPath}/new`, { permissions: ["clipboard-read", "clipboard-write"] });
    await create(page, "Copied");
    const clipboard = () => page.evaluate(() => navigator.clipboard.readText());

    await page.getByRole("button", { name: "Copy URL" }).click();
    await page.getByText("Copied", { exact: true }).waitFor();
    assert.equal(await clipboard(), await urlOn(page));
    await page.getByRole("button", { name: "Copy command" }).click();
    await page.getByText("Copied", { exact: true }).nth(1).waitFor();
    assert.match(await clipboard(), /^curl -X POST '[^']+' \\\n {2}-H /);
    await page.context().close();
  });

  it("sees the secret and variable fields only when they apply", async () => {
    const page = await open(`${triggersPath}/new`);
    const secret = page.getByLabel("Secret", { exact: true });
    assert.equal(await secret.isVisible(), false);
    await page.getByLabel("Webhook", { exact: false }).first().check();
    assert.equal(await secret.isVisible(), false);
    await page.getByLabel("GitHub").first().check();
    assert.equal(await secret.isVisible(), true);

    await page.getByLabel("Label").fill("Pushes");
    await page.getByLabel("Verify deliveries").check();
    await page.getByLabel("Webhook", { exact: false }).first().check();
    assert.equal(await secret.isVisible(), false);
    await page.getByLabel("GitHub").first().check();
    assert.equal(await page.getByLabel("Environment variables").isVisible(), false);
    await page.getByText("More settings").click();
    await page.getByLabel("Environment variables").fill("REGION=eu\nbroken");
    await secret.fill("s3cret");
    await press(page, "Create trigger");
    assert.match(await mainText(page), /Line 2 of the environment variables has no =.*type it again/);
    const environment = page.getByLabel("Environment variables");
    assert.ok(await environment.evaluate((field) => field === document.activeElement));
    assert.equal(await secret.inputValue(), "");
    await environment.fill("REGION=eu");
    await secret.fill("s3cret");
    await press(page, "Create trigger");
    await click(page, "Go to the trigger");
    await click(page, "Edit");

    assert.match(await mainText(page), /REGION/);
    const variables = page.getByLabel("New variables");
    assert.equal(await variables.isVisible(), false);
    await page.getByLabel("Replace all").check();
    await variables.fill("REGION=us\nTIER=2");
    await page.getByLabel("Label").fill("Pushes to main");
    await press(page, "Save");
    assert.match(await mainText(page), /The trigger is saved.*Pushes to main.*REGION, TIER/);
    await page.context().close();
  });

  it("sees changes by other users without a reload", async () => {
    const list = await open(triggersPath);
    await list.evaluate(() => Object.assign(globalThis, { same: 1 }));
    const fields = await pages.newForm({ label: "From elsewhere" });

    await pages.member.post(`${triggersPath}/new`, fields);
    await list.getByText("From elsewhere").waitFor();
    await pages.member.post(`${triggersPath}/${fields.id}/disable`);
    await list.getByText("disabled", { exact: true }).waitFor();
    await pages.member.post(`${triggersPath}/${fields.id}/delete`);
    await list.getByText("No trigger yet").waitFor();

    assert.ok(await list.evaluate(() => "same" in globalThis), "was not loaded again");
    await list.context().close();
  });
});
