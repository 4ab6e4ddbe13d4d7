import assert from "node:assert/strict";
import { it } from "node:test";
import type { Page } from "playwright-core";
import { describeInBrowser, follow, heading, mainText, openWindow, press } from "../../../helpers/browser.ts";
import { withSettings } from "../../../helpers/databases.ts";
import { password } from "../../../helpers/organization.ts";
import { startPages } from "../../../helpers/pages.ts";

describeInBrowser("signing in and out", withSettings(startPages, { SIGN_IN_FAILURES: "2" }), (pages) => {
  const signIn = async (page: Page, email: string, secret = password) => {
    await page.getByLabel("Email address").fill(email);
    await page.getByLabel("Password").fill(secret);
    return press(page, "Sign in");
  };
  const signOut = async (page: Page) => {
    await page.locator("summary").click();
    return follow(page, () => page.getByRole("button", { name: "Sign out" }).click());
  };

  it("refuses every password after too many wrong ones, and shows the wait", async () => {
    const page = await openWindow(pages.url);
    await page.goto("/sign-in");
    await signIn(page, pages.bob.email, "wrong");
    assert.match(await page.getByRole("alert").innerText(), /The email address or password is wrong/);
    assert.equal(await page.getByLabel("Email address").inputValue(), pages.bob.email);
    await signIn(page, pages.bob.email); // success does not reset the count
    assert.match(await heading(page), /Hello, Bob/);
    await signOut(page);
    await page.goto("/sign-in");
    assert.equal((await signIn(page, pages.bob.email, "wrong")).status(), 422);

    const refused = await signIn(page, pages.bob.email);

    assert.equal(refused.status(), 429);
    const seconds = Number(await refused.headerValue("retry-after"));
    assert.ok(seconds > 0 && seconds <= 610, String(seconds));
    assert.equal(await heading(page), "Too many attempts");
    assert.match(await mainText(page), new RegExp(`Please wait ${seconds} seconds`));
    await page.goto("/sign-in");
    await signIn(page, pages.ada.email); // other users may sign in
    assert.match(await heading(page), /Hello, Ada/);
    await page.context().close();
  });
});
