import assert from "node:assert/strict";
import { join } from "node:path";
import type axe from "axe-core";
import type { Page } from "playwright-core";
import { findViolations } from "../../../helpers/accessibility.ts";

const desk = { width: 1100, height: 800 };
const phone = { width: 375, height: 740 };
const contrast = { runOnly: ["color-contrast"] };

/** The look that `assertLooks` begins and ends with. Pages are opened in it. */
export async function lookAtDesk(page: Page): Promise<void> {
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize(desk);
}

/**
 * Asserts that a page has no serious fault of accessibility in light and in dark, and fits a phone.
 * @param name of the pictures that are taken if TEST_SCREENSHOTS names a folder
 */
export async function assertLooks(page: Page, name: string): Promise<void> {
  await lookAtDesk(page);
  await takePicture(page, `${name}-light`);
  assert.deepEqual(await seriousFaults(page, {}), [], "in light");

  await page.emulateMedia({ colorScheme: "dark" });
  await takePicture(page, `${name}-dark`);
  assert.deepEqual(await seriousFaults(page, contrast), [], "in dark");

  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize(phone);
  await takePicture(page, `${name}-phone`);
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(width <= phone.width, `scrolls sideways: ${width} pixels wide`);
  await lookAtDesk(page);
}

async function takePicture(page: Page, name: string): Promise<void> {
  const folder = process.env.TEST_SCREENSHOTS;
  if (folder)
    await page.screenshot({ path: join(folder, `${name.replace(/\W+/g, "-")}.png`), fullPage: true });
}

async function seriousFaults(page: Page, options: axe.RunOptions): Promise<string[]> {
  const violations = await findViolations(page, options);
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html}`));
}
