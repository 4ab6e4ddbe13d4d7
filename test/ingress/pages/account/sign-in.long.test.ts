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

  it("redirects to the requested page", async () => {
    const page = await openWindow(pages.url);
    await page.goto("/user/api-access-tokens/new?from=a%26b");
    assert.equal(await heading(page), "Sign in");

    await signIn(page, ` ${pages.ada.email.toUpperCase()} `);

    assert.equal(page.url(), `${pages.url}/user/api-access-tokens/new?from=a%26b`);
    await page.context().close();
  });

  it("requires the password again after sign-out", async () => {
    const page = await openWindow(pages.url, { cookie: await pages.cookieOf(pages.ada) });
    await page.goto("/user/password");

    await signOut(page);

    assert.match(await page.getByRole("status").innerText(), /You have signed out/);
    await page.goto("/user/password");
    assert.equal(await heading(page), "Sign in");
    await page.context().close();
  });

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

  it("ends the sessions of all other browsers when the password is changed", async () => {
    const open = async () => openWindow(pages.url, { cookie: await pages.cookieOf(pages.ada) });
    const [here, elsewhere] = [await open(), await open()];
    await here.goto("/user/password");
    const change = async (present: string, wanted: string, again = wanted) => {
      await here.getByLabel("Current password").fill(present);
      await here.getByLabel("New password", { exact: true }).fill(wanted);
      await here.getByLabel("New password once more").fill(again);
      return press(here, "Change password");
    };
    assert.equal((await change("wrong password", "another good one")).status(), 422);
    assert.match(await here.getByRole("alert").innerText(), /current password is wrong/);
    await change(password, "another good one", "another good 1");
    assert.match(await here.getByRole("alert").innerText(), /are not the same/);

    await change(password, "another good one");

    assert.match(await here.getByRole("status").innerText(), /Your password is changed/);
    await elsewhere.goto("/user/password");
    assert.equal(await heading(elsewhere), "Sign in");
    await signIn(elsewhere, pages.ada.email, "another good one");
    assert.equal(await heading(elsewhere), "Change password");
    await here.goto("/user/connected-apps");
    assert.equal(await heading(here), "Connected apps");
  });
});
