import assert from "node:assert/strict";
import { before, it } from "node:test";
import type { Page } from "playwright-core";
import { updateOrganization } from "../../../../shared/accounts/organizations.ts";
import {
  click,
  climb,
  describeInBrowser,
  follow,
  heading,
  mainText,
  openWindow,
  press,
} from "../../../helpers/browser.ts";
import { buildWebhook } from "../../../helpers/builds.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

describeInBrowser("an admin of an organization", startQueuePages, (pages) => {
  let page: Page;

  before(async () => {
    await updateOrganization(pages.services, "acme", { features: { custom_agent_images: true } });
    page = await openWindow(pages.url, { cookie: await pages.cookieOf(pages.ada) });
  });

  const submit = async (button: string) => (await press(page, button)).status();
  const problem = () => page.getByRole("alert").innerText();
  const newQueue = async () => {
    await page.goto(pages.paths.cluster);
    await click(page, "New queue");
  };

  it("navigates from the start page to a queue", async () => {
    await page.goto("/organizations/acme");
    await follow(page, () => page.getByRole("navigation", { name: "Sections" }).getByText("Agents").click());
    await click(page, "Primary");
    assert.match(await mainText(page), /default default active 0 0 Self-hosted/);
    await click(page, "default");
    assert.equal(await heading(page), "default active");
    assert.match(await mainText(page), /Default queue Steps that name no queue run here/);
    assert.match(await mainText(page), /Operator created the queue default/);
  });

  it("creates a self-hosted queue after a correction of its key", async () => {
    await newQueue();
    await page.getByLabel("Key").fill("no spaces");
    await page.getByLabel("Description").fill("For releases");
    assert.equal(await page.getByLabel("Agents").isVisible(), false);
    await page.getByText("More settings").click();
    await page.getByLabel("Retries prefer").selectOption("a different agent");
    assert.equal(await submit("Create queue"), 422);
    assert.match(await problem(), /^Key can only contain letters/);
    assert.equal(await page.getByLabel("Description").inputValue(), "For releases");

    await page.getByLabel("Key").fill("default");
    assert.equal(await submit("Create queue"), 422);
    assert.equal(await problem(), "Key has already been taken.");

    await page.getByLabel("Key").fill("releases");
    assert.equal(await submit("Create queue"), 200);
    assert.equal(await heading(page), "releases active");
    assert.match(await mainText(page), /For releases.*Agents Self-hosted Retries prefer a different agent/);
    assert.match(await mainText(page), /Created just now by Ada/);
  });

  it("creates a hosted queue, and changes its size and image", async () => {
    await newQueue();
    await page.getByLabel("Key").fill("cloud");
    await page.getByText("More settings").click();
    assert.equal(await page.getByRole("option", { name: /Windows/ }).count(), 0);
    await page.getByLabel("Agents").selectOption({ label: "Linux ARM64 Medium (4 vCPU, 16 GB, 95 GB disk)" });
    assert.equal(await page.getByLabel("Retries prefer").isVisible(), false);
    await submit("Create queue");
    assert.match(await mainText(page), /Agents Hosted, Linux ARM64 Medium \(4 vCPU, 16 GB, 95 GB disk\)/);

    await click(page, "Edit");
    assert.equal(await page.getByLabel("Size").locator("option").count(), 6);
    await page.getByLabel("Size").selectOption({ label: "Large (8 vCPU, 32 GB, 158 GB disk)" });
    await page.getByLabel("Agent image").fill("registry.example.com/agent:1");
    await page.getByLabel("Description").fill("Rented");
    await submit("Save");
    assert.match(await mainText(page), /Rented.*Linux ARM64 Large.*Image registry.example.com\/agent:1/);

    await click(page, "Edit");
    await page.getByLabel("Agent image").fill("");
    await submit("Save");
    assert.doesNotMatch(await mainText(page), /Image/);
    assert.match(await mainText(page), /Ada updated the queue cloud/);
  });

  it("pauses a queue with a note, sees the waiting builds, and resumes it", async () => {
    await buildWebhook(pages, (await pages.acme.trigger({ buildMessage: "Held back" })).path);
    await page.goto(pages.paths.queue);
    const { y: jobs = 0 } =
      (await page.getByRole("heading", { name: "Jobs", exact: true }).boundingBox()) ?? {};
    assert.ok(jobs > 0 && jobs < 400, `jobs are in sight: ${jobs} pixels`);
    await page.getByText("Pause this queue").click();
    await page.getByLabel("Note").fill("Line one\nline two");
    await submit("Pause");

    assert.equal(await heading(page), "default paused");
    assert.equal(await page.locator(".note").innerText(), "Line one\nline two");
    const text = await mainText(page);
    assert.match(text, /Paused by Ada just now/);
    assert.match(text, /Jobs waiting 1 Jobs running 0/);
    assert.match(text, /Ada paused the queue default/);
    await submit("Resume");
    assert.equal(await heading(page), "default no agent");
    assert.match(await mainText(page), /Ada resumed the queue default/);
  });

  it("creates, changes and deletes a cluster, and picks its default queue", async () => {
    await page.goto(pages.paths.clusters);
    await page.getByLabel("Name").fill("Primary");
    assert.equal(await submit("Create cluster"), 422);
    assert.equal(await problem(), "Name has already been taken.");
    await page.getByLabel("Name").fill("Second");
    await submit("Create cluster");
    assert.equal(await heading(page), "Second");
    assert.match(await mainText(page), /no queue yet/);

    await click(page, "Create a queue");
    await page.getByLabel("Key").fill("main");
    await submit("Create queue");
    await climb(page, "Second");
    await click(page, "Edit");
    await page.getByLabel("Name").fill("Spare");
    await page.getByLabel("Default queue").selectOption("main");
    await submit("Save");
    assert.equal(await heading(page), "Spare");
    assert.match(await mainText(page), /main default active/);

    await click(page, "Delete");
    await submit("Delete");
    assert.match(await page.getByRole("status").innerText(), /^The cluster is deleted/);
    assert.equal(await page.getByRole("link", { name: "Spare" }).count(), 0);
  });

  it("sees forms and buttons that a member does not see", async () => {
    const bobs = await openWindow(pages.url, { cookie: await pages.cookieOf(pages.bob) });
    for (const path of [pages.paths.clusters, pages.paths.cluster, pages.paths.queue]) {
      assert.equal((await bobs.goto(path))?.status(), 200, path);
      assert.equal(await bobs.getByRole("main").locator("form, .button").count(), 0, path);
    }
    assert.match(await mainText(bobs), /Agents Self-hosted/);
    await bobs.context().close();
  });
});
