import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import type { Page } from "playwright-core";
import { onFreePort } from "../../../scripts/scratch/ports.ts";
import { findViolations } from "../../helpers/accessibility.ts";
import { describeInBrowser, openWindow } from "../../helpers/browser.ts";
import type { TestDatabase } from "../../helpers/databases.ts";
import { openAcme } from "../../helpers/organization.ts";

/** Faults of the renderer in its own controls. */
const ofRenderer = ["button-name", "label-content-name-mismatch", "scrollable-region-focusable"];
const queueAddress = "/docs/api#tag/queues/POST/v2/organizations/{org}/clusters/{cluster}/queues";

const open = (database: TestDatabase) =>
  onFreePort(async (port) => {
    const address = `http://127.0.0.1:${port}`;
    const world = await openAcme(database, { PORT: String(port), PUBLIC_URL: address });
    return { ...world, token: await world.acme.token("read_user") };
  });

describeInBrowser("/docs/api in a browser", open, (world) => {
  /** Collects errors, and requests to other hosts. */
  async function openDocs(path: string, options: Parameters<typeof openWindow>[1] = {}) {
    const page = await openWindow(world.url, options);
    const faults: string[] = [];
    page.on("pageerror", ({ message }) => faults.push(message));
    page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
    page.on("request", (request) => {
      if (/^(https?|wss?):/.test(request.url()) && !request.url().startsWith(world.url))
        faults.push(request.url());
    });
    await page.goto(path);
    return { page, faults };
  }
  const violations = async (page: Page, options = {}) => {
    const found = await findViolations(page, options);
    return found
      .filter(({ id }) => !ofRenderer.includes(id))
      .map(({ id, nodes }) => `${id} ${nodes[0]?.html}`);
  };

  it("shows an operation with enough contrast in light and in dark, fits a phone, and asks no other host", async () => {
    const { page, faults } = await openDocs(queueAddress, { colorScheme: "light" });
    await page.getByRole("heading", { name: /^Create a queue/ }).waitFor();
    const isDark = () => page.locator("body.dark-mode").isVisible();

    assert.deepEqual([await isDark(), await violations(page)], [false, []]);
    await page.emulateMedia({ colorScheme: "dark" });
    await page.locator("body.dark-mode").waitFor();
    assert.deepEqual(await violations(page, { runOnly: ["color-contrast"] }), []);

    await page.setViewportSize({ width: 375, height: 700 });
    await page.evaluate("window.scrollTo(500, window.scrollY)");
    assert.equal(await page.evaluate("window.scrollX"), 0);
    assert.deepEqual(faults, []);
  });

  // Rendering the page takes seconds of CPU time, so these tests share one, in their order.
  describe("one page", () => {
    let page: Page;
    let faults: string[];

    before(async () => {
      ({ page, faults } = await openDocs("/docs/api"));
      await page.getByRole("heading", { level: 1 }).waitFor();
    });

    it("finds operations by words of their text", async () => {
      await page
        .getByRole("button", { name: /search/i })
        .first()
        .click();
      await page.keyboard.type("pause");

      await page
        .getByRole("option", { name: /pause_dispatch/ })
        .first()
        .waitFor();
      await page.keyboard.press("Escape"); // closes the search
      assert.deepEqual(faults, []);
    });

    it("sends a request with the reader's token, and stores none", async () => {
      await page.getByPlaceholder("Token").first().fill(world.token);
      await page.goto("/docs/api#tag/user/GET/v2/user");
      const operation = page.getByRole("button", { name: /Test Request.*\/v2\/user\)?$/ });
      await operation.first().click();

      const [answer] = await Promise.all([
        page.waitForResponse((response) => response.url().endsWith("/v2/user")),
        page.getByRole("button", { name: /^Send/ }).first().click(),
      ]);

      assert.deepEqual([answer.status(), (await answer.json()).name], [200, "Ada"]);
      assert.equal(
        (await page.evaluate<string>("JSON.stringify(localStorage)")).includes(world.token),
        false,
      );
      assert.deepEqual(faults, []);
    });

    it("keeps the renderer from the pages", async () => {
      const outcome = await page.evaluate("fetch('/sign-in').then(() => 'read', () => 'refused')");

      assert.equal(outcome, "refused");
    });
  });

  it("links the document without scripts", async () => {
    const { page, faults } = await openDocs("/docs/api", { javaScriptEnabled: false });

    const link = page.getByRole("link", { name: "/openapi.json" });

    assert.equal(await link.getAttribute("href"), "/openapi.json");
    assert.deepEqual(faults, []);
  });
});
