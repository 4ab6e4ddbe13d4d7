import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type axe from "axe-core";
import type { Page } from "playwright-core";

/** The minified source, because each page parses it again. */
const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** By default axe loads all style sheets again, and none of the enabled rules reads them. */
const always = { resultTypes: ["violations"], preload: false } satisfies axe.RunOptions;

/** Returns the faults of accessibility that axe-core finds. It is evaluated from outside: the CSP blocks page scripts. */
export async function findViolations(page: Page, options: axe.RunOptions = {}): Promise<axe.Result[]> {
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(source);
  const { violations } = await page.evaluate(
    (given) => (globalThis as unknown as { axe: typeof axe }).axe.run(document, given),
    { ...always, ...options },
  );
  return violations;
}
