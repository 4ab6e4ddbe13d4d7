import assert from "node:assert/strict";
import { join } from "node:path";
import type axe from "axe-core";
import type { Page } from "playwright-core";
import { findViolations } from "../../../helpers/accessibility.ts";

const desk = { width: 1100, height: 800 };
const sizes = { desk, tablet: { width: 768, height: 1024 }, phone: { width: 375, height: 740 } };
const schemes = ["dark", "light"] as const;
const contrast = { runOnly: ["color-contrast"] };

/** The look that `assertLooks` begins and ends with. Pages are opened in it. */
export async function lookAtDesk(page: Page): Promise<void> {
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize(desk);
}

/**
 * Asserts that a page has no serious fault of accessibility in light and in dark, and fits a tablet and a phone.
 * @param name of the pictures that are taken if TEST_SCREENSHOTS names a folder
 */
export async function assertLooks(page: Page, name: string): Promise<void> {
  await lookAtDesk(page);
  assert.deepEqual(await seriousFaults(page, {}), [], "in light");
  await page.emulateMedia({ colorScheme: "dark" });
  assert.deepEqual(await seriousFaults(page, contrast), [], "in dark");

  for (const [size, viewport] of Object.entries(sizes)) {
    await page.setViewportSize(viewport);
    await takePictures(page, `${name}-${size}`);
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= viewport.width, `scrolls sideways: ${width} pixels wide on a ${size}`);
  }
  await lookAtDesk(page);
}

async function takePictures(page: Page, name: string): Promise<void> {
  const folder = process.env.TEST_SCREENSHOTS;
  if (!folder) return;
  for (const colorScheme of schemes) {
    await page.emulateMedia({ colorScheme });
    const path = join(folder, `${name.replace(/\W+/g, "-")}-${colorScheme}.png`);
    await page.screenshot({ path, fullPage: true });
  }
}

async function seriousFaults(page: Page, options: axe.RunOptions): Promise<string[]> {
  const violations = await findViolations(page, options);
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html}`));
}
