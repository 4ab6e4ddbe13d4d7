import assert from "node:assert/strict";
import { it } from "node:test";
import type { Page } from "playwright-core";
import { click, describeInBrowser, heading, openWindow, press } from "../../../helpers/browser.ts";
import { eventually, post } from "../../../helpers/http.ts";
import { startQueuePages } from "../../../helpers/pages.ts";
import { signed } from "../../../pipelines/provider/provider-api.ts";

const newPipeline = "/organizations/acme/new-pipeline";
const push = { ref: "refs/heads/main", after: "2".repeat(40) };

describeInBrowser("setting up a source host in a browser", startQueuePages, (pages) => {
  const open = async (options: { javaScriptEnabled?: boolean } = {}) =>
    openWindow(pages.url, { cookie: await pages.cookieOf(pages.bob), ...options });
  const deliver = (repository: string, { url, secret }: { url: string; secret: string }) => {
    const body = JSON.stringify({ ...push, repository: { clone_url: repository } });
    return post(pages.url + new URL(url).pathname, body, {
      "X-GitHub-Event": "push",
      ...signed(secret, body),
    });
  };
  /** Makes a pipeline of an address. @returns its webhook */
  const connect = async (page: Page, repository: string) => {
    await page.goto(newPipeline);
    await page.getByLabel("Repository").fill(repository);
    await press(page, "Create pipeline");
    return {
      url: await page.getByLabel("Address").inputValue(),
      secret: await page.getByLabel("Secret", { exact: true }).inputValue(),
    };
  };
  const text = (page: Page) => page.getByRole("main").innerText();
  /** Connects a repository, and shows the page that waits for its first delivery. @returns its webhook */
  const waitForFirst = async (page: Page, repository: string) => {
    const webhook = await connect(page, repository);
    await click(page, "Wait for the first delivery");
    assert.match(await text(page), /No delivery yet/);
    return webhook;
  };

  it("the page notices the first delivery, and keeps its buttons that copy", async () => {
    const page = await open();
    const repository = "https://github.com/acme/noticed.git";
    const webhook = await waitForFirst(page, repository);

    assert.equal((await deliver(repository, webhook)).status, 201);

    await eventually("the delivery on the page", async () => /Last delivery/.test(await text(page)));
    for (const name of ["Copy the address", "Copy command"])
      assert.ok(await page.getByRole("button", { name }).isVisible(), name);
    await page.getByRole("button", { name: "Copy command" }).click();
    await page.getByText(/^(Copied|It is selected: copy it with the keyboard)$/).waitFor();
  });

  it("the page notices a refused delivery, too", async () => {
    const page = await open();
    const repository = "https://github.com/acme/refused.git";
    const webhook = await waitForFirst(page, repository);

    assert.equal((await deliver(repository, { ...webhook, secret: "another" })).status, 401);

    await eventually("the refusal on the page", async () =>
      /The last delivery was refused .*Signature wrong or missing/.test(await text(page)),
    );
  });

  it("needs no JavaScript: loading the page again shows the delivery", async () => {
    const page = await open({ javaScriptEnabled: false });
    const repository = "https://github.com/acme/reloaded.git";
    const webhook = await connect(page, repository);
    await click(page, "Wait for the first delivery");
    assert.match(await text(page), /Without JavaScript, load the page again/);

    await deliver(repository, webhook);
    await page.reload();

    assert.match(await text(page), /Last delivery/);
    await click(page, "Change the secret");
    await press(page, "Make a new secret");
    assert.equal(await heading(page), "New secret");
  });

  it("needs no mouse", async () => {
    const page = await open();
    await page.goto(newPipeline);
    await page.getByLabel("Repository").focus();
    await page.keyboard.type("git@gitlab.com:acme/by-keyboard.git");
    await page.getByRole("button", { name: "Create pipeline" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "Wait for the first delivery" }).focus();
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/provider$/);
    await page.locator("#setup > summary").focus();
    await page.keyboard.press("Enter");

    assert.equal(await page.locator("#setup").getAttribute("open"), null);
    assert.equal(await heading(page), "GitLab enabled");
  });
});
