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
 * Asserts that a page has no fault of accessibility in light and in dark, fits five widths with one line of head, has
 * straight lines and equal buttons, cuts no message and no row with room on a desk, and can be touched on a phone.
 * @param name of the pictures that are taken if TEST_SCREENSHOTS names a folder
 */
export async function assertLooks(page: Page, name: string): Promise<void> {
  await lookAtDesk(page);
  assert.deepEqual(await faults(page), [], "in light");
  await page.emulateMedia({ colorScheme: "dark" });
  assert.deepEqual(await faults(page, ["color-contrast"]), [], "in dark");

  const crooked: string[] = [];
  for (const [size, viewport] of Object.entries(sizes)) {
    await page.setViewportSize(viewport);
    await takePictures(page, `${name}-${size}`);
    const { width, head } = await page.evaluate(measure);
    assert.ok(width <= viewport.width, `scrolls sideways: ${width} pixels wide on a ${size} screen`);
    assert.ok(head <= headHeight, `the head is ${head} pixels high on a ${size} screen`);
    const checks = [
      crookedLines,
      unequalButtons,
      overlappingTimes,
      strayButtons,
      strayTrails,
      ...(viewport === desk
        ? [brokenCells, squeezedFacts, cutBesideRoom, proportionalCode, raggedEntries]
        : []),
    ];
    for (const check of checks)
      crooked.push(...(await page.evaluate(check)).map((fault) => `${size}, ${check.name}: ${fault}`));
    if (viewport === desk) assert.deepEqual(await page.evaluate(cutMessages), [], "cut messages");
    if (viewport.width <= sizes.phone.width)
      assert.deepEqual(await page.evaluate(smallTargets, minTarget), [], `small targets, ${size}`);
  }
  assert.deepEqual(crooked, [], "lines, buttons and columns");
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

/** With reasons. Rows of home have one line, of which a message takes the rest: it has its whole text as title. */
function cutMessages() {
  const all = [...document.querySelectorAll(".message:not([title]), .needs .reason")];
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

/** Neighbors in a line whose baselines differ. */
function crookedLines() {
  const lines =
    ".entry > div, .last, .audit .line, .builds .what, .build-head .line, .table.list td, .facts:not(.panel), .job-head, .delivery .result";
  return [...document.querySelectorAll(lines)].flatMap((line) => {
    const parts = [...line.children].filter(
      (each) =>
        each.textContent.trim() &&
        !/flex|grid|none/.test(getComputedStyle(each).display) &&
        getComputedStyle(each).position !== "absolute",
    );
    const measured = parts.map((each) => {
      const probe = document.createElement("span");
      probe.style.fontSize = "0"; // it lies on the baseline, and no line breaks behind it
      each.prepend(probe);
      const { bottom } = probe.getBoundingClientRect();
      probe.remove();
      return { each, bottom };
    });
    return measured.slice(1).flatMap(({ each, bottom }, at) => {
      const apart = Math.abs(bottom - (measured[at]?.bottom ?? bottom));
      // More is another line.
      return apart > 1 && apart < 8 ? [`${apart} pixels: ${each.outerHTML.slice(0, 200)}`] : [];
    });
  });
}

/** Buttons beside a title or each other that are not equally high, and those not in the middle of their title's line. */
function unequalButtons() {
  const groups = [...document.querySelectorAll(".heading, .actions, .head")];
  return groups.flatMap((group) => {
    const buttons = [...group.querySelectorAll(".button, button:not(.plain), input[type=search]")].filter(
      (each) => each.checkVisibility() && !each.closest(".star, .menu > nav, .default"),
    );
    if (group.matches("p:empty")) return [`a form in a paragraph ends it: ${group.parentElement?.outerHTML}`];
    const heights = new Set(
      buttons.map((each) => Math.round(each.getBoundingClientRect().height)).filter((height) => height <= 48),
    );
    const title = group.querySelector("h1, h2");
    const line = title?.getBoundingClientRect();
    const crooked = buttons.filter((each) => {
      const box = each.getBoundingClientRect();
      if (!line || line.height > 40 || box.top > line.bottom || box.bottom < line.top) return false;
      return Math.abs((box.top + box.bottom - line.top - line.bottom) / 2) > 2;
    });
    return heights.size > 1 || crooked.length > 0
      ? [`${[...heights]}: ${group.outerHTML.slice(0, 200)}`]
      : [];
  });
}

/** Cells whose states, or buttons, are not in one line. */
function brokenCells() {
  return [...document.querySelectorAll("td:not(.narrow *)")]
    .filter((cell) =>
      [".state", ".button, button"].some((parts) => {
        const tops = [...cell.querySelectorAll(parts)].map((each) => each.getBoundingClientRect().top);
        return new Set(tops.map(Math.round)).size > 1;
      }),
    )
    .map((cell) => cell.outerHTML.slice(0, 200));
}

function squeezedFacts() {
  return [...document.querySelectorAll<HTMLElement>("dd")]
    .filter((each) => each.checkVisibility() && each.offsetWidth < 100 && each.offsetHeight > 100)
    .map((each) => each.outerHTML.slice(0, 200));
}

/** Times of an axis that lie over those before. */
function overlappingTimes() {
  const times = [...document.querySelectorAll(".axis text")].filter((each) => each.checkVisibility());
  return times.slice(1).flatMap((each, at) => {
    const before = times[at]?.getBoundingClientRect();
    const box = each.getBoundingClientRect();
    return before && before.right > box.left && before.left < box.left ? [`${each.textContent}`] : [];
  });
}

/** Buttons in the line of the only field of a search, but far from it. */
function strayButtons() {
  return [...document.querySelectorAll(".search:has(> .field:first-child + .actions)")].flatMap((form) => {
    const field = form.querySelector("input")?.getBoundingClientRect();
    const button = form.querySelector("button")?.getBoundingClientRect();
    const isFar = field && button && button.top < field.bottom && button.left - field.right > 24;
    return isFar ? [`${button.left - field.right} pixels from its field`] : [];
  });
}

/** Ways back that do not stand above the card that they belong to. */
function strayTrails() {
  const trail = document.querySelector(".trail:has(+ main > .narrow) li");
  const card = document.querySelector("main > .narrow");
  if (!trail || !card) return [];
  const apart = card.getBoundingClientRect().left - trail.getBoundingClientRect().left;
  return Math.abs(apart) > 1 ? [`${apart} pixels from the card`] : [];
}

/** Fields of code whose letters are not equally wide. */
function proportionalCode() {
  return [...document.querySelectorAll("textarea")]
    .filter((each) => /^[{[]/.test(each.value) && !getComputedStyle(each).fontFamily.includes("mono"))
    .map((each) => each.name);
}

/** Rows whose words are cut beside a part that is empty, or nearly so. */
function cutBesideRoom() {
  const room = 160;
  return [...document.querySelectorAll(".builds > li, .jobs > li")].flatMap((row) => {
    const parts = [...row.querySelectorAll<HTMLElement>(".what, .branch, .message, .track")].filter((each) =>
      each.checkVisibility(),
    );
    const hasRoom = parts.some((each) => {
      const words = document.createRange();
      words.selectNodeContents(each);
      return each.clientWidth - words.getBoundingClientRect().width > room && !each.querySelector("svg.bar");
    });
    const cut = parts.filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1);
    return hasRoom ? cut.flatMap(({ textContent }) => textContent.slice(0, 200) || []) : [];
  });
}

/** Lists of entries in which the text after the name begins elsewhere than in the first row. */
function raggedEntries() {
  return [...document.querySelectorAll(".entries")].flatMap((list) => {
    const texts = [
      ...list.querySelectorAll(".entry:not(.narrow *) > div > :is(h2, h3) ~ p, .entry > a + .quiet"),
    ];
    const lefts = texts.map((each) => Math.round(each.getBoundingClientRect().left));
    const first = Math.min(...lefts);
    return texts
      .filter((each, at) => (lefts[at] ?? first) !== first && !isBeside(each))
      .map((each) => each.textContent.slice(0, 200));
  });

  /** In the line of the text before. */
  function isBeside(each: Element) {
    const before = each.previousElementSibling;
    return before?.matches("p") && before.getBoundingClientRect().right < each.getBoundingClientRect().left;
  }
}
