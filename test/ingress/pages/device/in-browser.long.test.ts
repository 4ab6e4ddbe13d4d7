import assert from "node:assert/strict";
import { before, it } from "node:test";
import type { Page } from "playwright-core";
import type { User } from "../../../../shared/accounts/user-store.ts";
import { describeInBrowser, follow, heading, mainText, openWindow, press } from "../../../helpers/browser.ts";
import { get } from "../../../helpers/http.ts";
import { password } from "../../../helpers/organization.ts";
import { startPages } from "../../../helpers/pages.ts";

const notValid = /This code is not valid. Check it on your device, or start there again for a new one./;

describeInBrowser("connecting a device", startPages, (pages) => {
  let ada: Page;

  before(async () => {
    ada = await windowOf(pages.ada);
  });

  const windowOf = async (user: User) => openWindow(pages.url, { cookie: await pages.cookieOf(user) });
  const enter = async (page: Page, code: string) => {
    await page.goto("/oauth/device");
    await page.getByLabel("Code").fill(code);
    return press(page, "Continue");
  };

  it("shows the request after the code is typed, then asks to return to the device", async () => {
    const codes = await pages.authorize({ scope: "read_user read_builds" }, "deploy-cli/2.3 (linux)");

    await enter(ada, ` ${codes.user_code.toLowerCase().replace("-", " ")} `);

    assert.equal(await heading(ada), "Authorize Deploy CLI?");
    const text = await mainText(ada);
    for (const part of [
      `act as ${pages.ada.email}`,
      codes.user_code,
      "IP address 127.0.0.1",
      "deploy-cli/2.3 (linux)",
      "just now",
      "See your name and email address read_user",
      "See builds and their jobs read_builds",
    ])
      assert.ok(text.includes(part), `${part} is not in: ${text}`);
    assert.equal(await ada.getByRole("checkbox").count(), 0);

    await ada.getByLabel("acme").check();
    const answer = await press(ada, "Authorize");

    assert.equal(answer.request().redirectedFrom()?.method(), "POST");
    assert.equal(await heading(ada), "Device connected");
    assert.match(await mainText(ada), /Return to your device/);
    const { access_token } = await pages.poll(codes);
    const { body } = await get(`${pages.url}/v2/user`, access_token);
    assert.equal(body.email, pages.ada.email);
  });

  it("shows an expired code as invalid, and an expired request as expired", async () => {
    const [reviewed, late] = [await pages.authorize({ organization: "acme" }), await pages.authorize()];
    await enter(ada, reviewed.user_code);

    pages.clock.advance(601_000);

    const answer = await press(ada, "Authorize");
    assert.equal(answer.status(), 409);
    assert.equal(await heading(ada), "This request was already handled");
    assert.match(await mainText(ada), /It has expired: start on your device again/);
    assert.equal((await enter(ada, late.user_code)).status(), 422);
    assert.match(await mainText(ada), notValid);
    assert.equal((await pages.poll(reviewed)).error, "expired_token");
  });

  it("shows the first decision after Back or a repeated form", async () => {
    const codes = await pages.authorize({ organization: "acme" });
    await enter(ada, codes.user_code);
    const other = await ada.context().newPage();
    await other.goto(ada.url());
    await press(ada, "Authorize");

    const sentAgain = await press(other, "Deny");

    assert.equal(sentAgain.status(), 409);
    assert.equal(await heading(other), "This request was already handled");
    assert.match(await mainText(other), /It was authorized for Deploy CLI/);
    await follow(ada, () => ada.goBack());
    assert.equal(await heading(ada), "This request was already handled");
    assert.ok((await pages.poll(codes)).access_token);
    await other.close();
  });

  it("lets another user sign in and decide", async () => {
    const codes = await pages.authorize();
    const shared = await windowOf(pages.ada);
    await enter(shared, codes.user_code);

    await press(shared, "Sign in as someone else");
    assert.equal(await heading(shared), "Sign in");
    await shared.getByLabel("Email address").fill(pages.bob.email);
    await shared.getByLabel("Password").fill(password);
    await press(shared, "Sign in");
    assert.equal(await shared.getByLabel("Code").inputValue(), codes.user_code);
    await press(shared, "Continue");
    assert.match(await mainText(shared), /act as bob@acme.example.com/);
    await shared.getByLabel("I started this on a device of mine").check();
    await press(shared, "Authorize");

    const { access_token } = await pages.poll(codes);
    assert.equal((await get(`${pages.url}/v2/user`, access_token)).body.email, pages.bob.email);
    await shared.context().close();
  });

  it("preselects the requested organization, and offers others", async () => {
    const codes = await pages.authorize({ organization: "globex" });
    await enter(ada, codes.user_code);
    assert.ok(await ada.getByLabel("Globex Corporation").isChecked());

    await ada.getByLabel("acme").check();
    await press(ada, "Authorize");

    const { access_token } = await pages.poll(codes);
    const { body } = await get(`${pages.url}/v2/access-token`, access_token);
    assert.equal(body.user.email, pages.ada.email);
    await ada.goto("/user/connected-apps");
    assert.match(await mainText(ada), /in acme/);
  });

  it("shows dropped scopes per organization, and grants the rest", async () => {
    const codes = await pages.authorize({ scope: "read_user write_clusters", organization: "acme" });
    await enter(ada, codes.user_code);
    const noteOf = (name: string) => ada.locator(".choices .check", { hasText: name }).innerText();
    assert.match(await noteOf("acme"), /Not granted here.*write_clusters/s);
    assert.doesNotMatch(await noteOf("Globex"), /Not granted here/);

    await press(ada, "Authorize");

    assert.equal((await pages.poll(codes)).scope, "read_user");
  });

  it("offers only Deny if the user can grant no scope", async () => {
    const codes = await pages.authorize({ scope: "write_clusters", organization: "acme" });
    const bob = await windowOf(pages.bob);
    await enter(bob, codes.user_code);
    assert.match(await mainText(bob), /None of this can be granted here/);
    assert.equal(await bob.getByRole("button", { name: "Authorize" }).count(), 0);

    await press(bob, "Deny");

    assert.equal((await pages.poll(codes)).error, "access_denied");
    await bob.context().close();
  });
});
