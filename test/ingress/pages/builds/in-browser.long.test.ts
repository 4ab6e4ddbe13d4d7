import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { before, it } from "node:test";
import type { Page } from "playwright-core";
import { createBuilds } from "../../../../shared/builds/making/builds.ts";
import { createPipeline } from "../../../../shared/pipelines/pipelines.ts";
import { click, describeInBrowser, heading, mainText, openWindow } from "../../../helpers/browser.ts";
import { buildWebhook } from "../../../helpers/builds.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

describeInBrowser("a member of an organization", startQueuePages, (pages) => {
  let page: Page;

  before(async () => {
    page = await openWindow(pages.url, { cookie: await pages.cookieOf(pages.bob) });
  });

  const pipeline = (name: string, steps = [{ command: "make" }]) =>
    createPipeline(pages.services, pages.actor, { clusterId: pages.acme.cluster.id, name, steps });
  const build = async (payload: string, slug = "web") => {
    const trigger = await pages.acme.trigger(
      { message: "From a webhook", environment: { COLOUR: "red" } },
      slug,
    );
    return buildWebhook(pages, trigger.path, payload);
  };

  it("pages through pipelines and builds", async () => {
    for (let i = 0; i < 31; i++) await pipeline(`Pipeline ${i}`);
    const busy = await pipeline("A busy one");
    const request = { pipelineId: busy.id, deliveryId: null, source: "webhook" as const };
    const more = { message: "m", commit: "HEAD", branch: "main", environmentSealed: null };
    const requests = Array.from({ length: 45 }, () => ({ ...request, ...more }));
    await pages.services.db.transaction((tx) =>
      createBuilds(tx, pages.services, requests, pages.clock.now()),
    );

    await page.goto(pages.paths.pipelines);
    assert.equal(await page.locator(".entry").count(), 30);
    await click(page, "Next");
    assert.equal(await page.locator(".entry").count(), 3);
    assert.match(await mainText(page), /Page 2 of 2/);

    await page.goto("/organizations/acme/pipelines/a-busy-one");
    const numbers = () => page.locator(".builds .what a").allInnerTexts();
    assert.deepEqual([(await numbers())[0], (await numbers()).length], ["#45", 30]);
    await click(page, "Next");
    assert.deepEqual([(await numbers()).at(-1), (await numbers()).length], ["#1", 15]);
    for (const odd of ["0", "-1", "99", "x", "1e999", ""])
      assert.equal(
        (await page.goto(`/organizations/acme/pipelines/a-busy-one?page=${odd}`))?.status(),
        200,
        odd,
      );
  });

  it("sees a build's jobs, queues, environment and creator", async () => {
    await pipeline("Two steps", [{ command: "make" }, { command: "make install" }]);
    await build("{}", "two-steps");
    await page.goto("/organizations/acme/pipelines/two-steps");
    assert.match(await mainText(page), /Runs in Primary Default branch main Steps make make install/);
    await click(page, "#1");

    assert.equal(await heading(page), "Build #1 scheduled");
    const text = await mainText(page);
    assert.match(
      text,
      /From a webhook No agent of the queue default is connected\. .* Commit HEAD Branch main Created just now by a webhook/,
    );
    assert.match(text, /make scheduled default waits .* make install scheduled default waits /);
    await page.locator("#environment > summary").click();
    assert.match(await mainText(page), /COLOUR, .*SIGNALBOX_PIPELINE_SLUG, /);
    await click(page, "Show values");
    assert.match(await mainText(page), /COLOUR red .*SIGNALBOX_PIPELINE_SLUG two-steps/);
    await click(page, "Hide values");
    assert.doesNotMatch(await page.content(), /COLOUR red|two-steps</);
    await click(page, "default");
    assert.equal(await heading(page), "default active");
  });

  it("reads the formatted payload, and downloads the exact one", async () => {
    const payload =
      '{ "id":12345678901234567890.10,"id":1E2,\t"text":"é\\u00e9 </pre><script>alert(1)</script>" }\n';
    const { number } = await build(payload);
    await page.goto(pages.paths.build(number));

    assert.equal(
      await page.locator("pre.payload").innerText(),
      '{\n  "id": 12345678901234567890.10,\n  "id": 1E2,\n  "text": "é\\u00e9 </pre><script>alert(1)</script>"\n}',
    );
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "Download" }).click(),
    ]);
    assert.equal(download.suggestedFilename(), `build-${number}-payload.json`);
    assert.deepEqual(await readFile(await download.path()), Buffer.from(payload));
  });
});
