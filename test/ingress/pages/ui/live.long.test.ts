import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { Page } from "playwright-core";
import { cancelBuild } from "../../../../shared/builds/progress/cancel.ts";
import { pauseDispatch, resumeDispatch } from "../../../../shared/dispatch/pause.ts";
import { findQueue } from "../../../../shared/queues/store.ts";
import { describeInBrowser, heading, openWindow, press } from "../../../helpers/browser.ts";
import { buildWebhook, fanOut } from "../../../helpers/builds.ts";
import { sqlite } from "../../../helpers/databases.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

/** Exceeds the page's delay before it fetches itself. */
const lookMs = 1200;

describeInBrowser("a page that is open", startQueuePages, (pages) => {
  let webhook: string;

  before(async () => {
    webhook = (await pages.acme.trigger()).path;
    await buildWebhook(pages, webhook);
  });

  const window = async (path: string, options = {}, user = pages.ada) => {
    const page = await openWindow(pages.url, { cookie: await pages.cookieOf(user), ...options });
    await page.goto(path);
    return page;
  };
  const queue = async () => {
    const { cluster, queue } = pages.acme;
    return (await findQueue(pages.services.db, cluster.id, queue.id)) ?? assert.fail("no queue");
  };
  const pause = async (note: string) => pauseDispatch(pages.services, pages.actor, await queue(), note);
  const openNote = async (page: Page) => {
    await page.getByText("Pause this queue").click();
    return page.getByLabel("Note");
  };
  const resume = async () => resumeDispatch(pages.services, pages.actor, await queue());

  it("shows a pause with its note, and a resume, without a reload", async () => {
    const { paths, bob } = pages;
    const hers = await window(paths.queue);
    const others = await Promise.all([paths.queue, paths.build(1)].map((path) => window(path, {}, bob)));
    const cluster = await window(paths.cluster, {}, bob);
    for (const page of [...others, cluster])
      await page.evaluate(() => Object.assign(globalThis, { same: 1 }));

    await (await openNote(hers)).fill("New disks");
    await press(hers, "Pause");

    for (const page of others) await page.getByText("New disks").waitFor();
    await cluster.getByText("paused", { exact: true }).waitFor();

    await press(hers, "Resume");

    for (const page of others) await page.getByText("New disks").waitFor({ state: "detached" });
    await cluster.getByText("paused", { exact: true }).waitFor({ state: "detached" });
    for (const page of [...others, cluster])
      assert.ok(await page.evaluate(() => "same" in globalThis), "was not loaded again");
    for (const page of [hers, ...others, cluster]) await page.context().close();
  });

  it("keeps typed text, and updates the rest", async () => {
    const page = await window(pages.paths.queue);
    const note = await openNote(page);
    await note.pressSequentially("Half a sen");
    const waiting = page.locator("dt:text('Jobs waiting') + dd");
    assert.equal(await waiting.innerText(), "1");

    await buildWebhook(pages, webhook);
    await page.locator("dt:text('Jobs waiting') + dd:text-is('2')").waitFor();
    await page.keyboard.type("tence");
    assert.equal(await note.inputValue(), "Half a sentence");

    await pause("Somebody was faster");
    await page.getByText("Somebody was faster").waitFor();
    assert.equal(await heading(page), "default paused");
    assert.equal(await note.inputValue(), "Half a sentence");
    assert.ok(await note.evaluate((element) => element === document.activeElement));

    await resume();
    await page.getByText("Somebody was faster").waitFor({ state: "detached" });
    assert.equal(await page.getByRole("button", { name: "Pause" }).count(), 1);
    assert.equal(await note.inputValue(), "Half a sentence");

    await pause("Somebody was faster");
    await page.getByText("Somebody was faster").waitFor();
    await press(page, "Pause");
    assert.match(await page.getByRole("alert").innerText(), /already paused.*not saved: Half a sentence/);
    await page.getByText("Somebody was faster").waitFor();
    await resume();
    await page.context().close();
  });

  it("removes an outdated form once nobody types in it", async () => {
    const page = await window(pages.paths.queue);
    const note = await openNote(page);
    await note.fill("Second thoughts");
    await pause("First");
    await page.getByText("First").waitFor();

    await note.clear();
    await note.blur();

    await note.waitFor({ state: "detached" });
    await resume();
    await page.context().close();
  });

  it("announces the new state, and focuses the heading when its button is gone", async () => {
    await pause("Short");
    const page = await window(pages.paths.queue);
    await page.getByRole("button", { name: "Resume" }).focus();

    await resume();

    await page.locator("h1:focus").waitFor();
    const spoken = page.locator("[aria-live=polite]");
    assert.equal(await spoken.textContent(), "default no agent");
    await pause("Again");
    await page.getByText("Again").waitFor();
    assert.equal(await page.locator("h1:focus").innerText(), "default paused");
    assert.equal(await spoken.textContent(), "default paused");
    await resume();
    await page.context().close();
  });

  it("keeps unfolded parts, focus and scroll position", async () => {
    const page = await window(pages.paths.build(1));
    await page.locator("#environment > summary").click();
    await page.getByRole("list", { name: "Jobs" }).getByRole("link").focus();

    await pause("Look");
    await fanOut(pages.services, pages.acme.queue.id);
    await page.getByText("Look").waitFor();
    assert.ok(await page.getByText("SIGNALBOX_BUILD_NUMBER").isVisible());
    assert.equal(await page.locator(":focus").innerText(), "make test");
    await resume();
    await page.context().close();
  });

  it("shows new builds and canceled builds", async () => {
    const [list, pipeline] = await Promise.all(
      [pages.paths.pipelines, pages.paths.pipeline].map((path) => window(path)),
    );
    assert.ok(list && pipeline);
    const { number } = await buildWebhook(pages, webhook);
    for (const page of [list, pipeline]) await page.getByRole("link", { name: `#${number}` }).waitFor();

    await cancelBuild(pages.services, pages.actor, pages.acme.pipeline, number);

    for (const page of [list, pipeline]) await page.locator(".state.canceled").waitFor();
    for (const page of [list, pipeline]) await page.context().close();
  });

  it("shows changes made between rendering and listening", async () => {
    const page = await window(pages.paths.pipelines);
    await page.route(/\/events\?/, async (route) => {
      await pause("In between");
      await route.continue();
    });

    await page.goto(pages.paths.queue);

    await page.getByText("In between").waitFor();
    await resume();
    await page.context().close();
  });

  const hide = (page: Page, isHidden: boolean) =>
    page.evaluate((hidden) => {
      Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }, isHidden);

  it("listens only while visible, and catches up", async () => {
    const page = await openWindow(pages.url, { cookie: await pages.cookieOf(pages.ada) });
    const firstLook = page.waitForResponse((response) => response.request().resourceType() === "fetch");
    await page.goto(pages.paths.queue);
    await firstLook;

    await hide(page, true);
    await pause("While away");
    await sleep(lookMs);
    assert.equal(await page.getByText("While away").count(), 0);
    await hide(page, false);

    await page.getByText("While away").waitFor();
    await resume();
    await page.context().close();
  });

  /** Opens the page of the queue as it follows a form. The page's clock can be put forward. */
  const openAfterForm = async () => {
    const page = await openWindow(pages.url, { cookie: await pages.cookieOf(pages.ada) });
    await page.clock.install();
    const firstLook = page.waitForResponse((response) => response.request().resourceType() === "fetch");
    await page.goto(`${pages.paths.queue}?unfold=x&notice=queue_saved`);
    await firstLook;
    return { page, notice: page.getByText("The queue is saved.") };
  };
  const readingMs = 10_000;

  it("drops the notice of a form once something is newer and the notice could be read", async () => {
    const { page, notice } = await openAfterForm();
    await pause("Newer");
    await page.getByText("Newer").waitFor();
    assert.ok(await notice.isVisible(), "it is still to be read");

    await page.clock.fastForward(readingMs);

    await notice.waitFor({ state: "detached" });
    assert.equal(new URL(page.url()).search, "?unfold=x", "a reload does not bring it back");
    await resume();
    await page.context().close();
  });

  it("keeps the notice of a form while nothing is newer, until the page was out of sight", async () => {
    const { page, notice } = await openAfterForm();
    await page.clock.fastForward(readingMs);
    await page.evaluate(() => dispatchEvent(new Event("stale")));
    await sleep(lookMs);
    assert.ok(await notice.isVisible());

    await hide(page, true);
    await hide(page, false);

    await notice.waitFor({ state: "detached" });
    await page.context().close();
  });

  it("shows changes after a reload without JavaScript", async () => {
    const page = await window(pages.paths.queue, { javaScriptEnabled: false });
    await (await openNote(page)).fill("By hand");
    await press(page, "Pause");
    assert.ok(await page.getByText("By hand").isVisible());
    const other = await window(pages.paths.build(1), { javaScriptEnabled: false }, pages.bob);
    assert.ok(await other.getByText("By hand").isVisible());
    await press(page, "Resume");
    await other.reload();
    assert.equal(await other.getByText("By hand").count(), 0);
    for (const each of [page, other]) await each.context().close();
  });
});

describe("while Redis is unavailable", () => {
  it("pages work as usual", async (t) => {
    const pages = await startQueuePages(sqlite, { REDIS_URL: "redis://127.0.0.1:1" });
    t.after(() => pages.close());
    const ada = await pages.visitor(pages.ada);
    const { paths } = pages;

    for (const path of [paths.clusters, paths.cluster, paths.queue, paths.pipelines, paths.pipeline])
      assert.equal((await ada.get(path)).status, 200, path);
    assert.equal((await ada.post(`${paths.queue}/pause`, { note: "No Redis" })).status, 303);
    assert.match((await ada.get(paths.queue)).text, /No Redis/);
    assert.equal((await ada.post(`${paths.queue}/resume`)).status, 303);
  });
});
