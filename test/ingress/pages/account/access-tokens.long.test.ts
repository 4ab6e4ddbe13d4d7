import assert from "node:assert/strict";
import { before, it } from "node:test";
import type { Page } from "playwright-core";
import { click, describeInBrowser, heading, mainText, openWindow, press } from "../../../helpers/browser.ts";
import { get } from "../../../helpers/http.ts";
import { startPages } from "../../../helpers/pages.ts";

describeInBrowser("API access tokens", startPages, (pages) => {
  let page: Page;

  before(async () => {
    page = await openWindow(pages.url, { cookie: await pages.cookieOf(pages.ada) });
  });

  const fillIn = async (name: string, organization: string, ...scopes: string[]) => {
    await page.goto("/user/api-access-tokens/new");
    await page.getByRole("textbox", { name: "Name" }).fill(name);
    await page.getByRole("combobox", { name: "Organization" }).selectOption({ label: organization });
    for (const scope of scopes) await page.locator(`input[value="${scope}"]`).check();
  };

  it("show a new token once, which works until it is revoked", async () => {
    await fillIn("Release script", "acme", "read_user", "read_organizations");
    await press(page, "Create token");
    const token = await page.getByLabel("Token", { exact: true }).inputValue();
    const user = () => get(`${pages.url}/v2/user`, token);
    assert.equal((await user()).body.email, pages.ada.email);
    await click(page, "I have copied it");
    const entry = page.getByRole("listitem").filter({ hasText: "Release script" });
    assert.match(await entry.innerText(), /In acme: read_organizations\s+read_user/);
    assert.match(await entry.innerText(), /Expires in 3 months|Expires in 90 days/);
    assert.ok(!(await page.content()).includes(token));

    await click(page, "Revoke Release script");
    assert.match(await mainText(page), /Programs that use “Release script” are refused from now on/);
    await press(page, "Revoke");

    assert.match(await page.getByRole("status").innerText(), /The token is revoked/);
    assert.match(await mainText(page), /You have no tokens yet/);
    assert.equal((await user()).status, 401);
  });

  it("report missing fields and keep filled ones", async () => {
    await fillIn("Half done", "Choose one", "read_builds");
    await press(page, "Create token");
    assert.match(await page.getByRole("alert").innerText(), /Choose the organization/);
    assert.equal(await page.getByRole("textbox", { name: "Name" }).inputValue(), "Half done");
    assert.ok(await page.locator('input[value="read_builds"]').isChecked());

    await page.locator('input[value="read_builds"]').uncheck();
    await page.getByRole("combobox", { name: "Organization" }).selectOption({ label: "acme" });
    await press(page, "Create token");

    assert.match(await page.getByRole("alert").innerText(), /Choose at least one thing/);
  });

  it("grant only scopes of the user's role", async () => {
    await fillIn("Cluster tool", "acme", "write_clusters");
    await press(page, "Create token");
    assert.match(await page.getByRole("alert").innerText(), /write_clusters needs an admin/);

    await page.getByRole("combobox", { name: "Organization" }).selectOption({ label: "Globex Corporation" });
    await press(page, "Create token");

    assert.equal(await heading(page), "Token created");
  });

  it("are refused and hidden once they expire", async () => {
    await fillIn("Short lived", "acme", "read_user");
    await page.getByLabel("Works for").selectOption({ label: "30 days" });
    await press(page, "Create token");
    const token = await page.getByLabel("Token", { exact: true }).inputValue();

    pages.clock.advance(30 * 86_400_000 + 1000);

    assert.equal((await get(`${pages.url}/v2/user`, token)).status, 401);
    const [name = "", value = ""] = (await pages.cookieOf(pages.ada)).split("=");
    await page.context().addCookies([{ name, value, url: pages.url }]);
    await page.goto("/user/api-access-tokens");
    assert.doesNotMatch(await mainText(page), /Short lived/);
  });
});
