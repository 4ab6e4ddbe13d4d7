import assert from "node:assert/strict";
import { after, describe } from "node:test";
import {
  type Browser,
  type BrowserContextOptions,
  chromium,
  type Page,
  type Response,
} from "playwright-core";
import { findChromium } from "../servers/chromium.ts";
import { type Closable, openForSuite, sqlite, type TestDatabase } from "./databases.ts";

const patienceMs = 60_000;
const maxTabs = 60;
/** Without these options V8 optimizes scripts, above all axe, for longer than pages run them. */
const args = ["--js-flags=--no-opt --no-maglev"];
const found = findChromium(process.env);
const program = "program" in found ? found.program : undefined;

const missing = "missing" in found ? found.missing : false;
if (missing && process.env.TEST_REQUIRE === "all") throw new Error(missing);

/** Like `describeWorldOn(sqlite, …)`. Skips without Chromium, or fails with TEST_REQUIRE=all. */
export function describeInBrowser<Opened extends Closable>(
  title: string,
  open: (database: TestDatabase) => Promise<Opened>,
  body: (world: Opened) => void,
): void {
  describe(title, { skip: missing }, () =>
    openForSuite(sqlite, open, (world) => {
      body(world);
      after(closeWindows);
    }),
  );
}

let launching: Promise<Browser> | undefined;

function launchBrowser(): Promise<Browser> {
  launching ??= chromium.launch({ args, ...(program && { executablePath: program }) });
  return launching;
}

after(async () => (await launching?.catch(() => undefined))?.close());

/** Windows left open by a failed test keep their event streams. */
async function closeWindows(): Promise<void> {
  const browser = await launching?.catch(() => undefined);
  await Promise.all((browser?.contexts() ?? []).map((context) => context.close()));
}

export async function openWindow(
  url: string,
  options: BrowserContextOptions & { cookie?: string } = {},
): Promise<Page> {
  const { cookie, ...rest } = options;
  const context = await (await launchBrowser()).newContext({ baseURL: url, ...rest });
  context.setDefaultTimeout(patienceMs);
  const [name = "", value = ""] = cookie?.split("=") ?? [];
  if (cookie) await context.addCookies([{ name, value, url }]);
  return context.newPage();
}

/** Returns the response of the page that `act` leads to. */
export async function follow(page: Page, act: () => Promise<unknown>): Promise<Response> {
  const isPage = (response: Response) =>
    response.request().isNavigationRequest() && response.status() !== 303;
  const [response] = await Promise.all([
    page.waitForEvent("response", isPage),
    page.waitForEvent("load"),
    act(),
  ]);
  return response;
}

export function press(page: Page, name: string): Promise<Response> {
  return follow(page, () => page.getByRole("main").getByRole("button", { name, exact: true }).click());
}

export function click(page: Page, name: string | RegExp): Promise<Response> {
  return follow(page, () => page.getByRole("main").getByRole("link", { name }).first().click());
}

/** Follows a breadcrumb. */
export function climb(page: Page, name: string): Promise<Response> {
  const trail = page.getByRole("navigation", { name: "Breadcrumbs" });
  return follow(page, () => trail.getByRole("link", { name, exact: true }).click());
}

export function heading(page: Page): Promise<string> {
  return page.getByRole("heading", { level: 1 }).innerText();
}

/** Returns the text without header and menu. */
export async function mainText(page: Page): Promise<string> {
  return (await page.getByRole("main").innerText()).replace(/\s+/g, " ");
}

/** Tabs to the element of this name. */
export function tabTo(page: Page, name: string | RegExp): Promise<void> {
  return pressUntil(page, "Tab", name);
}

/** Tabs to a link or button, and presses Enter. */
export async function enter(page: Page, name: string | RegExp): Promise<void> {
  await tabTo(page, name);
  await follow(page, () => page.keyboard.press("Enter"));
}

/** Tabs to a field, and replaces its text. */
export async function typeInto(page: Page, label: string | RegExp, text: string): Promise<void> {
  await tabTo(page, label);
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type(text);
}

/** Presses a key until the element of this name has the focus. */
export async function pressUntil(page: Page, key: string, name: string | RegExp): Promise<void> {
  for (let pressed = 0; pressed < maxTabs; pressed++) {
    await page.keyboard.press(key);
    const focused = await page.evaluate(nameOfFocused);
    if (typeof name === "string" ? focused === name : name.test(focused)) return;
  }
  assert.fail(`${key} never got to ${name}`);
}

function nameOfFocused(): string {
  const element = document.activeElement as HTMLInputElement;
  const text = element.ariaLabel ?? (element.labels?.[0] ?? element).innerText;
  return text.replace(/\s+/g, " ").trim();
}
