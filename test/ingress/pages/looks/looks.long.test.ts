import assert from "node:assert/strict";
import { before, it } from "node:test";
import type { Page } from "playwright-core";
import { describeInBrowser, openWindow } from "../../../helpers/browser.ts";
import { startPages } from "../../../helpers/pages.ts";
import { assertLooks, lookAtDesk } from "./assert-looks.ts";
import { type Exhibits, everyPage, exhibit } from "./every-page.ts";
import { listUnseen } from "./every-pattern.ts";

describeInBrowser("accessibility in light, in dark and on a phone", startPages, (pages) => {
  let exhibits: Exhibits;
  let windows: Record<"ada" | "bob" | "nobody", Page>;
  const seen = new Set<string>();

  before(async () => {
    exhibits = await exhibit(pages);
    const open = (cookie?: string) =>
      openWindow(pages.url, { reducedMotion: "reduce", ...(cookie && { cookie }) });
    windows = {
      ada: await open(await pages.cookieOf(pages.ada)),
      bob: await open(await pages.cookieOf(pages.bob)),
      nobody: await open(),
    };
    await Promise.all(Object.values(windows).map(lookAtDesk));
  });

  for (const { name, as, visit } of everyPage) {
    it(name, async () => {
      const page = windows[as];
      await visit(page, exhibits);
      seen.add(new URL(page.url()).pathname);

      await assertLooks(page, name);
    });
  }

  it("leave out no page", () => {
    assert.deepEqual(listUnseen(seen), []);
  });
});
