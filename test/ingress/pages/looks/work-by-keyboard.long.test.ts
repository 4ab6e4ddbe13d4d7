import assert from "node:assert/strict";
import { before, it } from "node:test";
import { eq } from "drizzle-orm";
import type { Page } from "playwright-core";
import { createBuildByHand } from "../../../../shared/builds/making/by-request.ts";
import { createPipeline } from "../../../../shared/pipelines/pipelines.ts";
import { pipelineSteps } from "../../../../shared/pipelines/steps.ts";
import { leaseJob } from "../../../agents/logs/jobs-with-logs.ts";
import {
  describeInBrowser,
  enter,
  follow,
  heading,
  mainText,
  openWindow,
  tabTo,
  typeInto,
} from "../../../helpers/browser.ts";
import { decideDue } from "../../../helpers/builds.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

const steps = pipelineSteps.parse([
  { label: "Tests", command: "make test" },
  { input: "Release?", fields: [{ key: "version", text: "Version" }] },
]);

// The later walks need what the earlier ones made.
describeInBrowser("a day's work by keyboard alone and without JavaScript", startQueuePages, (pages) => {
  let page: Page;
  const build = "/organizations/acme/pipelines/shop/builds/1";

  before(async () => {
    const { services, actor, acme } = pages;
    const cookie = await pages.cookieOf(pages.ada);
    page = await openWindow(pages.url, { cookie, javaScriptEnabled: false });
    const pipeline = await createPipeline(services, actor, {
      clusterId: acme.cluster.id,
      name: "Shop",
      steps,
    });
    const made = await createBuildByHand(services, actor, pipeline, { message: "Sell by weight" });
    const { builds, jobs } = services.db.tables;
    const all = await services.db.select().from(jobs).where(eq(jobs.buildId, made.build.id));
    const tests = all.find(({ type }) => type === "script");
    const agent = await leaseJob(services, { id: tests?.id ?? "", organizationId: acme.id });
    await agent.log("--- Tests\nok 1\n\x1b[31mnot ok 2: 3 kg cost nothing\x1b[0m\n");
    await agent.finish("failed");
    await services.db.transaction((tx) =>
      tx.update(builds).set({ state: "failing" }).where(eq(builds.id, made.build.id)),
    );
  });

  it("a user sends a test delivery, which makes a build", async () => {
    const trigger = await pages.acme.trigger({ label: "Prices" }, "shop");
    await page.goto(`/organizations/acme/pipelines/shop/triggers/${trigger.id}`);
    await enter(page, "Send a test delivery");
    await enter(page, "Send");
    await decideDue(pages.services);

    await page.goto("/organizations/acme/pipelines/shop/builds/2");

    assert.match(await heading(page), /^Shop #2/);
  });

  it("a user finds a build by a word of its message, and the line that failed", async () => {
    await page.goto("/organizations/acme/pipelines");
    await typeInto(page, "Search", "weight");
    await follow(page, () => page.keyboard.press("Enter"));
    await enter(page, /#1/);
    assert.match(await heading(page), /^Shop #1/);

    await enter(page, /^line \d+ of the log$/);

    assert.match(await heading(page), /^Tests/);
    assert.match(await page.locator(".lines .marked").innerText(), /not ok 2: 3 kg cost nothing/);
  });

  it("a user retries the failed job", async () => {
    await page.goto(build);
    await enter(page, "Retry failed job");

    assert.match(await mainText(page), /1 earlier attempt/);
  });

  it("a user answers the question of a step, and unblocks it", async () => {
    await page.goto(build);
    await tabTo(page, "Unblock");
    await page.keyboard.press("Enter"); // leads to the form
    await typeInto(page, "Version", "1.2");
    await enter(page, /^Continue/);

    assert.match(await mainText(page), /Release\? · unblocked by Ada/);
    assert.match(await mainText(page), /version 1\.2/);
  });

  it("an admin pauses a queue with a note, and resumes it", async () => {
    await page.goto(pages.paths.queue);
    await tabTo(page, "Pause this queue");
    await page.keyboard.press("Enter"); // unfolds
    await typeInto(page, /^Note/, "New disks until noon");
    await enter(page, "Pause");
    assert.match(await mainText(page), /New disks until noon/);
    await enter(page, "Resume");

    assert.doesNotMatch(await mainText(page), /New disks until noon Resume/);
  });

  it("a user connects a device", async () => {
    const codes = await pages.authorize({ scope: "read_user" });
    await page.goto("/oauth/device");
    await typeInto(page, "Code", codes.user_code);
    await follow(page, () => page.keyboard.press("Enter"));
    await tabTo(page, "Globex Corporation"); // first of two
    await page.keyboard.press("Space");
    await enter(page, "Authorize");

    assert.equal(await heading(page), "Device connected");
  });
});
