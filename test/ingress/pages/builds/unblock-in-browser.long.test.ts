import assert from "node:assert/strict";
import { before, it } from "node:test";
import type { Page } from "playwright-core";
import { createBuildByHand } from "../../../../shared/builds/making/by-request.ts";
import { createPipeline } from "../../../../shared/pipelines/pipelines.ts";
import { pipelineSteps } from "../../../../shared/pipelines/steps.ts";
import {
  describeInBrowser,
  follow,
  mainText,
  openWindow,
  press,
  pressUntil,
  tabTo,
} from "../../../helpers/browser.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

const options = ["Here", "There"].map((label) => ({ label, value: label.toLowerCase() }));
const fields = [
  { text: "Version", key: "version", hint: "Such as v1", format: "v\\d+" },
  { text: "Notes", key: "notes", required: false },
  { select: "Where", key: "where", options },
  { select: "Who", key: "who", options, multiple: true },
];
const release = { block: "Release?", fields, submit: "Ship it" };
const make = { command: "make" };

describeInBrowser("the form of a block, without JavaScript", startQueuePages, (pages) => {
  let page: Page;
  let scenes = 0;

  before(async () => {
    const cookie = await pages.cookieOf(pages.bob);
    page = await openWindow(pages.url, { cookie, javaScriptEnabled: false });
  });

  const newPipeline = (...steps: unknown[]) =>
    createPipeline(pages.services, pages.actor, {
      clusterId: pages.acme.cluster.id,
      name: `scene-${++scenes}`,
      steps: pipelineSteps.parse(steps),
    });
  const newBuild = async (...steps: unknown[]) => {
    const pipeline = await newPipeline(...steps);
    await createBuildByHand(pages.services, pages.actor, pipeline, {});
    return `${pages.paths.pipelines}/${pipeline.slug}/builds/1`;
  };
  const metaData = async () => {
    const rows = await pages.services.db.select().from(pages.services.db.tables.metaData);
    return Object.fromEntries(rows.slice(-fields.length).map(({ key, value }) => [key, value]));
  };
  const isFocused = (name: string) =>
    page.getByRole("group", { name }).evaluate((group) => group === document.activeElement);

  it("is filled in by keyboard alone", async () => {
    await page.goto(await newBuild(release, make));
    await tabTo(page, "Version");
    await page.keyboard.type("v2");
    await tabTo(page, "Notes (optional)");
    await page.keyboard.type("Two lines\nof notes");
    await tabTo(page, /^Where/);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await tabTo(page, "There");
    await page.keyboard.press("Space");
    await tabTo(page, "Ship it Release?");
    await follow(page, () => page.keyboard.press("Enter"));

    assert.match(await page.getByRole("status").innerText(), /unblocked/);
    assert.match(await mainText(page), /Release\?\s· unblocked by Bob/);
    const answers = { version: "v2", notes: "Two lines\nof notes", where: "there", who: "there" };
    assert.deepEqual(await metaData(), answers);
  });

  it("is not sent by the browser without what is required, and leads to what the server refuses", async () => {
    await page.goto(await newBuild(release, make));
    await page.getByRole("button", { name: "Ship it" }).click();
    assert.equal(
      await page.getByLabel("Version").evaluate((field) => field === document.activeElement),
      true,
    );

    await page.getByLabel("Version").fill("v2");
    await page.getByLabel("Where").selectOption("Here");
    await press(page, "Ship it Release?");

    const group = page.getByRole("group", { name: "Who" });
    assert.match(await group.innerText(), /Who can't be blank/);
    assert.equal(await isFocused("Who"), true);
    assert.equal(await page.getByLabel("Where").inputValue(), "here");
    await pressUntil(page, "Tab", "Here");
    await page.keyboard.press("Space");
    await tabTo(page, "Ship it Release?");
    await follow(page, () => page.keyboard.press("Enter"));
    assert.match(await mainText(page), /Release\?\s· unblocked by Bob/);
  });

  it("has a fault of its own among several, with their answers apart", async () => {
    const input = (label: string) => ({ input: label, fields, submit: "Ship it" });
    await page.goto(await newBuild(input("One?"), input("Two?"), make));
    const two = page.getByRole("region", { name: "Two?" });
    await two.getByLabel("Version").fill("v9");
    await two.getByLabel("Where").selectOption("There");
    await press(page, "Ship it Two?");

    assert.match(await two.innerText(), /Who can't be blank/);
    assert.equal(await two.getByLabel("Version").inputValue(), "v9");
    const one = page.getByRole("region", { name: "One?" });
    assert.doesNotMatch(await one.innerText(), /can't be blank/);
    assert.equal(await one.getByLabel("Version").inputValue(), "");
  });

  it("is in the form of a new build, where it can be left to others", async () => {
    const { slug } = await newPipeline(release, make);
    await page.goto(`${pages.paths.pipelines}/${slug}`);
    await tabTo(page, "New build");
    await page.keyboard.press("Enter");
    await tabTo(page, "Version");
    await tabTo(page, "Create build");
    await follow(page, () => page.keyboard.press("Enter"));
    assert.match(await mainText(page), /Version can't be blank/);

    await tabTo(page, /^Unblock this step with these answers/);
    await page.keyboard.press("Space");
    await tabTo(page, "Create build");
    await follow(page, () => page.keyboard.press("Enter"));
    assert.match(await mainText(page), /Waits for you/);
  });
});

describeInBrowser("a page with the form of a block", startQueuePages, (pages) => {
  it("keeps a choice that is not sent yet when the build changes", async () => {
    const input = { input: "One?", fields };
    const steps = pipelineSteps.parse([input, { input: "Two?" }, make]);
    const { services, actor, acme } = pages;
    const pipeline = await createPipeline(services, actor, {
      clusterId: acme.cluster.id,
      name: "live",
      steps,
    });
    await createBuildByHand(services, actor, pipeline, {});
    const window = async () => openWindow(pages.url, { cookie: await pages.cookieOf(pages.bob) });
    const [page, other] = [await window(), await window()];
    for (const each of [page, other]) await each.goto(`${pages.paths.pipelines}/live/builds/1`);
    await page.getByLabel("Where").selectOption("There");
    await page.getByRole("checkbox", { name: "Here", exact: true }).check();
    await page.evaluate(() => (document.activeElement as HTMLElement).blur());

    await press(other, "Continue Two?");

    await page.getByText("by Bob").waitFor(); // the list of jobs has been refreshed
    assert.equal(await page.getByLabel("Where").inputValue(), "there");
    assert.equal(await page.getByRole("checkbox", { name: "Here", exact: true }).isChecked(), true);
  });
});
