import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, it } from "node:test";
import axe from "axe-core";
import type { Page } from "playwright-core";
import { describeInBrowser, openWindow } from "../../../helpers/browser.ts";
import { sqlite } from "../../../helpers/databases.ts";
import { type Pages, startPages } from "../../../helpers/pages.ts";
import { say } from "../../../servers/acquired.ts";
import { type Exhibits, everyPage, exhibit } from "./every-page.ts";

const desk = { width: 1100, height: 800 };
const phone = { width: 375, height: 740 };
const contrast = { runOnly: ["color-contrast"] };

describeInBrowser("accessibility in light, in dark and on a phone", () => {
  let pages: Pages;
  let exhibits: Exhibits;
  let folder: string;
  let windows: Record<"ada" | "bob" | "nobody", Page>;

  before(async () => {
    pages = await startPages(sqlite);
    exhibits = await exhibit(pages);
    folder = screenshotFolder();
    say(`Screenshots of every page are in ${folder}.`);
    const open = (cookie?: string) =>
      openWindow(pages.url, { viewport: desk, reducedMotion: "reduce", ...(cookie && { cookie }) });
    windows = {
      ada: await open(await pages.cookieOf(pages.ada)),
      bob: await open(await pages.cookieOf(pages.bob)),
      nobody: await open(),
    };
  });
  after(() => pages.close());

  for (const { name, as, visit } of everyPage) {
    it(name, async () => {
      const page = windows[as];
      const picture = (look: string) =>
        page.screenshot({ path: join(folder, `${name.replace(/\W+/g, "-")}-${look}.png`), fullPage: true });
      await page.emulateMedia({ colorScheme: "light" });
      await page.setViewportSize(desk);
      await visit(page, exhibits);

      await picture("light");
      assert.deepEqual(await seriousFaults(page, {}), [], "in light");

      await page.emulateMedia({ colorScheme: "dark" });
      await picture("dark");
      assert.deepEqual(await seriousFaults(page, contrast), [], "in dark");

      await page.emulateMedia({ colorScheme: "light" });
      await page.setViewportSize(phone);
      await picture("phone");
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(width <= phone.width, `scrolls sideways: ${width} pixels wide`);
    });
  }
});

/** Evaluates axe-core from outside: the CSP blocks page scripts. */
async function seriousFaults(page: Page, options: axe.RunOptions): Promise<string[]> {
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(axe.source);
  const { violations } = await page.evaluate(
    (given) => (globalThis as unknown as { axe: typeof axe }).axe.run(document, given),
    options,
  );
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html}`));
}

function screenshotFolder(): string {
  const folder = process.env.TEST_SCREENSHOTS || mkdtempSync(join(tmpdir(), "signalbox-screenshots-"));
  mkdirSync(folder, { recursive: true });
  return folder;
}
