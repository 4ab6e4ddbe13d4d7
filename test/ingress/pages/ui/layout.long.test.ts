import assert from "node:assert/strict";
import { before, it } from "node:test";
import type { Locator, Page } from "playwright-core";
import { createOwnAccessToken } from "../../../../shared/accounts/access-tokens.ts";
import { pauseDispatch } from "../../../../shared/dispatch/pause.ts";
import { minuteMs } from "../../../../shared/durations.ts";
import { createPipeline } from "../../../../shared/pipelines/pipelines.ts";
import { createQueue } from "../../../../shared/queues/queues.ts";
import { describeInBrowser, openWindow } from "../../../helpers/browser.ts";
import { buildWebhook } from "../../../helpers/builds.ts";
import { eventually } from "../../../helpers/http.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

const long = `queue-${"of-many-words-".repeat(6)}`;

describeInBrowser("the layout", startQueuePages, (pages) => {
  let page: Page;
  let queuePath: string;

  before(async () => {
    const { services, actor, acme, ada } = pages;
    const queue = await createQueue(services, actor, acme.cluster, { key: long, description: "About it" });
    const steps = [{ command: "npm ci\nnpm test", agents: { queue: long } }];
    await createPipeline(services, actor, { clusterId: acme.cluster.id, name: "Site", steps });
    await buildWebhook(pages, (await acme.trigger({ buildBranch: `feature-${long}` }, "site")).path);
    await buildWebhook(pages, (await acme.trigger()).path);
    await pauseDispatch(services, actor, queue, "New disks");
    queuePath = `${pages.paths.cluster}/queues/${queue.id}`;
    const token = { id: queue.id, organizationId: acme.id, description: "Script", expiresInHours: undefined };
    await createOwnAccessToken(services, ada.id, { ...token, scopes: ["read_user"] });
    pages.clock.advance(minuteMs); // "waits less than 1 s" leaves a row less room
    page = await openWindow(pages.url, { cookie: await pages.cookieOf(ada) });
  });

  const visit = async (path: string, width: number) => {
    await page.setViewportSize({ width, height: 800 });
    await page.goto(path);
  };
  /** A page that is open replaces what changed: its parts are away for a moment. */
  const box = async (of: Locator) =>
    eventually("it is in sight", async () => (await of.first().boundingBox()) ?? undefined);
  const right = async (of: Locator) => {
    const { x, width } = await box(of);
    return x + width;
  };

  it("has the buttons of an entry at its right edge", async () => {
    await visit("/user/api-access-tokens", 1200);
    const entry = await right(page.locator(".entry"));
    assert.ok(entry - (await right(page.locator(".entry .actions"))) < 30);
    const { x, width } = await box(page.locator(".entry .actions a"));
    assert.ok(entry - x - width < 30);
  });

  it("gives links styled as buttons the height of buttons, with centered text", async () => {
    await visit(`${queuePath}/edit`, 1200);
    const [button, link] = [page.locator("button", { hasText: "Save" }), page.locator(".actions .button")];
    const { height } = await box(button);
    assert.equal((await box(link)).height, height);
    const room = await link.evaluate((each) => {
      const { paddingTop, lineHeight } = getComputedStyle(each);
      return Number.parseFloat(paddingTop) * 2 + Number.parseFloat(lineHeight) + 2;
    });
    assert.ok(Math.abs(room - height) < 0.5, `${room} of ${height}`);
  });

  it("leaves jobs and branches room beside long words", async () => {
    for (const [width, room] of [
      [1200, 200],
      [390, 170],
    ] as const) {
      await visit("/organizations/acme/pipelines/site/builds/1", width);
      assert.ok((await box(page.locator(".jobs .what"))).width >= room, `job at ${width}`);
      await visit("/organizations/acme/pipelines/site", width);
      assert.ok((await box(page.locator(".builds .source"))).width >= 150, `branch at ${width}`);
    }
  });

  it("shows the whole of a usual condition, down to a phone", async () => {
    const branches =
      'webhook.payload.ref == "refs/heads/main" || webhook.payload.ref.startsWith("refs/tags/")';
    const expression = `(${branches}) && !webhook.payload.head_commit.message.contains("[skip ci]")`;
    for (const width of [1280, 390]) {
      await visit(`/organizations/acme/try-filter?${new URLSearchParams({ expression })}`, width);
      const field = page.locator("#field-expression");
      const hidden = await field.evaluate(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight);
      assert.equal(hidden, 0, `at ${width}`);
    }
  });

  it("has a head of one line of 48 pixels, down to a phone", async () => {
    for (const width of [1440, 768, 390, 320]) {
      await visit("/organizations/globex/pipelines", width);
      assert.equal((await box(page.locator(".head"))).height, 48, `at ${width}`);
      const sections = page.getByRole("navigation", { name: "Sections" });
      assert.equal(await sections.isVisible(), width >= 768, `at ${width}`);
      const menu = await box(page.locator(".account"));
      assert.ok(menu.x + menu.width > width - 40, `at ${width}`);
    }
  });

  it("has all sections in the organization's menu on a phone, one menu at a time", async () => {
    await visit("/organizations/globex/pipelines", 390);
    await page.locator(".owner summary").click();
    const menu = page.getByRole("navigation", { name: "Globex Corporation" });
    const links = await menu.getByRole("link").allInnerTexts();
    assert.deepEqual(links.slice(0, 7), [
      ...["Pipelines", "Builds", "Deliveries", "Agents", "Members"],
      ...["Settings", "Audit log"],
    ]);
    await page.locator(".account summary").click();
    assert.ok(await menu.isHidden());
  });

  it("has rows of 40 pixels for builds, with the message beside the number", async () => {
    await visit("/organizations/acme/pipelines/site", 1440);
    const row = await box(page.locator(".builds > li"));
    assert.ok(row.height >= 36 && row.height <= 41, `${row.height}`);
    const message = page.locator(".builds .message");
    assert.ok(await message.first().evaluate((text) => text.scrollWidth <= text.clientWidth));
  });

  it("uses the window less 32 pixels at each side, 1,600 at most", async () => {
    for (const [width, content] of [
      [1440, 1376],
      [1920, 1600],
    ] as const) {
      await visit("/organizations/globex/pipelines", width);
      assert.equal((await box(page.locator("main > .heading"))).width, content);
    }
  });

  it("has closed parts as wide as their words, and open ones as wide as the page", async () => {
    await visit("/organizations/acme/pipelines/site", 1440);
    const part = page.locator(".fold", { hasText: "New build" });
    assert.ok((await box(part)).width < 200);
    await part.locator("summary").click();
    assert.equal((await box(part)).width, 1376);
  });

  it("has what stands below each other in columns", async () => {
    const spreadOf = async (path: string, texts: string, edge: "left" | "right") => {
      await visit(path, 1440);
      const edges = await page
        .locator(texts)
        .evaluateAll((all, edge) => all.map((each) => Math.round(each.getBoundingClientRect()[edge])), edge);
      assert.ok(edges.length > 1, `${edges.length} of ${texts}`);
      return Math.max(...edges) - Math.min(...edges);
    };
    const org = "/organizations/acme";
    assert.equal(await spreadOf(`${org}/search?q=e`, "section:has(#pipelines) .quiet", "left"), 0);
    assert.equal(await spreadOf(`${org}/pipelines`, ".last > .quiet", "right"), 0);
    assert.equal(await spreadOf(pages.paths.cluster, ".audit .line > .quiet", "right"), 0);
  });

  it("has facts beside their names on a phone, and no line above the first row of jobs", async () => {
    await visit(queuePath, 390);
    const [name, value] = [await box(page.locator(".facts dt")), await box(page.locator(".facts dd"))];
    assert.ok(Math.abs(name.y - value.y) < 2 && value.x > name.x);
    await visit("/organizations/acme/pipelines/site/builds/1", 390);
    const first = page.locator(".jobs > .scale + li");
    assert.equal(await first.evaluate((row) => getComputedStyle(row).borderTopWidth), "0px");
  });

  it("begins no line of the trail with its separator", async () => {
    await visit(queuePath, 320);
    const separators = await page
      .locator(".trail li")
      .evaluateAll((all) =>
        all.map((each) => ["::before", "::after"].map((side) => getComputedStyle(each, side).content)),
      );
    assert.deepEqual(
      separators.map(([before, after]) => [before, after?.startsWith('"/"') ?? false]),
      [
        ["none", true],
        ["none", false],
      ],
    );
  });

  it("gives tables of guides more width than lines of text, which lists have too", async () => {
    await visit("/organizations/acme/search", 1920);
    assert.equal((await box(page.locator("main > ul"))).width, 768);
    await visit("/docs/operating", 1920);
    assert.ok((await box(page.locator(".guide article"))).width > 900);
    assert.equal((await box(page.locator(".guide article > p"))).width, 768);
  });

  it("has the notations of steps side by side on a phone, in one row", async () => {
    await visit("/organizations/acme/new-pipeline", 390);
    const heights = await page
      .locator(".notations > button")
      .evaluateAll((all) =>
        all.map((each) => each.getBoundingClientRect()).map(({ y, height }) => [y, height]),
      );
    assert.equal(heights.length, 4);
    assert.equal(new Set(heights.map(String)).size, 1, `${heights}`);
  });

  it("shows a queue's pause before its description", async () => {
    await visit(queuePath, 1200);
    const [warning, description] = [
      await box(page.locator(".warning")),
      await box(page.getByText("About it")),
    ];
    assert.ok(warning.y < description.y);
  });
});
