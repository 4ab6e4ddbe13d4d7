import assert from "node:assert/strict";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { findViolations } from "../../../helpers/accessibility.ts";

const desk = { width: 1440, height: 900 };
const sizes = {
  small: { width: 320, height: 640 },
  phone: { width: 390, height: 800 },
  tablet: { width: 768, height: 1024 },
  desk,
  large: { width: 1920, height: 1080 },
};
const schemes = ["dark", "light"] as const;
/** With its border. */
const headHeight = 49;
/** Of what fingers touch, by WCAG 2.2, 2.5.8. */
const minTarget = 24;

/** The look that `assertLooks` begins and ends with. Pages are opened in it. */
export async function lookAtDesk(page: Page): Promise<void> {
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize(desk);
}

/**
 * Asserts that a page has no fault of accessibility in light and in dark, fits five widths with one line of head, cuts no
 * message on a desk, and can be touched on a phone.
 * @param name of the pictures that are taken if TEST_SCREENSHOTS names a folder
 */
export async function assertLooks(page: Page, name: string): Promise<void> {
  await lookAtDesk(page);
  assert.deepEqual(await faults(page), [], "in light");
  await page.emulateMedia({ colorScheme: "dark" });
  assert.deepEqual(await faults(page, ["color-contrast"]), [], "in dark");

  for (const [size, viewport] of Object.entries(sizes)) {
    await page.setViewportSize(viewport);
    await takePictures(page, `${name}-${size}`);
    const { width, head } = await page.evaluate(measure);
    assert.ok(width <= viewport.width, `scrolls sideways: ${width} pixels wide on a ${size} screen`);
    assert.ok(head <= headHeight, `the head is ${head} pixels high on a ${size} screen`);
    if (viewport === desk) assert.deepEqual(await page.evaluate(cutMessages), [], "cut messages");
    if (viewport.width <= sizes.phone.width)
      assert.deepEqual(await page.evaluate(smallTargets, minTarget), [], `small targets, ${size}`);
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

async function faults(page: Page, runOnly?: string[]): Promise<string[]> {
  const violations = await findViolations(page, runOnly ? { runOnly } : {});
  return violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html}`));
}

function measure() {
  const head = document.querySelector<HTMLElement>(".head");
  return { width: document.documentElement.scrollWidth, head: head?.offsetHeight ?? 0 };
}

/** Rows of home have one line, of which a message takes the rest: it has its whole text as title. */
function cutMessages() {
  const all = [...document.querySelectorAll(".message:not([title])")];
  return all
    .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
    .map(({ textContent }) => textContent);
}

/** Links in a line of text need no height of their own, nor do lines of a log. A field is touched by its label, too. */
function smallTargets(min: number) {
  return [...document.querySelectorAll<HTMLElement>("a, button, input, select, textarea, summary")]
    .filter((each) => each.checkVisibility({ opacityProperty: true, visibilityProperty: true }))
    .filter(
      (each) =>
        getComputedStyle(each).display !== "inline" && !each.closest(".hidden, [aria-hidden], .lines"),
    )
    .filter((each) => {
      const boxes = [each, ...((each as HTMLInputElement).labels ?? [])].map((box) =>
        box.getBoundingClientRect(),
      );
      return !boxes.some(({ width, height }) => width >= min && height >= min);
    })
    .map((each) => each.outerHTML.slice(0, 200));
}
