import { after, describe } from "node:test";
import {
  type Browser,
  type BrowserContextOptions,
  chromium,
  type Page,
  type Response,
} from "playwright-core";
import { findChromium } from "../servers/chromium.ts";

const patienceMs = 60_000;
const found = findChromium(process.env);
const program = "program" in found ? found.program : undefined;

const missing = "missing" in found ? found.missing : false;
if (missing && process.env.TEST_REQUIRE === "all") throw new Error(missing);

/** Declares tests in Chromium. Without it they are skipped, or fail with TEST_REQUIRE=all. */
export function describeInBrowser(title: string, body: () => void): void {
  describe(title, { skip: missing }, () => {
    body();
    after(closeWindows);
  });
}

let launching: Promise<Browser> | undefined;

/** One browser per process, closed after its last file. */
function launchBrowser(): Promise<Browser> {
  launching ??= chromium.launch(program ? { executablePath: program } : {});
  return launching;
}

after(async () => (await launching?.catch(() => undefined))?.close());

/** A window that a failed test left open would keep its event stream. */
async function closeWindows(): Promise<void> {
  const browser = await launching?.catch(() => undefined);
  await Promise.all((browser?.contexts() ?? []).map((context) => context.close()));
}

/** Opens a window with its own cookies, signed in if a cookie is given. */
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

/** Does something that leads to another page, and returns that page's response. */
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

/** Presses the button that sends a form. */
export function press(page: Page, name: string): Promise<Response> {
  return follow(page, () => page.getByRole("main").getByRole("button", { name, exact: true }).click());
}

/** Follows the first link of this name. */
export function click(page: Page, name: string | RegExp): Promise<Response> {
  return follow(page, () => page.getByRole("main").getByRole("link", { name }).first().click());
}

/** The heading of the page that is shown. */
export function heading(page: Page): Promise<string> {
  return page.getByRole("heading", { level: 1 }).innerText();
}

/** The page's text without header and menu. */
export async function mainText(page: Page): Promise<string> {
  return (await page.getByRole("main").innerText()).replace(/\s+/g, " ");
}
