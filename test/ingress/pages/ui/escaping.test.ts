import assert from "node:assert/strict";
import { before, it } from "node:test";
import type { Visitor } from "../../../../scripts/scratch/visitor.ts";
import { recordUsage } from "../../../../shared/accounts/access-tokens.ts";
import { createOrganization } from "../../../../shared/accounts/organizations.ts";
import type { User } from "../../../../shared/accounts/user-store.ts";
import { createUser } from "../../../../shared/accounts/users.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { password } from "../../../helpers/organization.ts";
import { addApplication, startPages } from "../../../helpers/pages.ts";

/** Breaks out of text, titles and quoted attributes. The number identifies the place. */
const attack = (place: number) =>
  `${place}'"></title><script>alert(${place})</script><img src=x onerror=alert(1)>&amp;`;
const escaped = (place: number) => `${place}'&quot;>&lt;/title>&lt;script>alert(${place})&lt;/script>`;
const [application, deviceAgent, browserAgent, organization, person, apiAgent, description] = [
  1, 2, 3, 4, 5, 6, 7,
];

describeWorldOn(sqlite, "untrusted text on pages", startPages, (pages) => {
  let mallory: User;
  let browser: Visitor;
  let organizationId: string;

  before(async () => {
    const made = await createOrganization(pages.services, { slug: "evil", name: attack(organization) });
    organizationId = made.id;
    mallory = await createUser(pages.services, {
      email: "mallory@evil.example.com",
      name: attack(person),
      password,
      organization: "evil",
      role: "admin",
    });
    await addApplication(pages, { name: attack(application), clientId: "evil" });
    browser = await pages.visitor(mallory);
  });

  const agent = { "user-agent": attack(browserAgent) };
  /** Expects these places as text, none as markup. */
  const assertShown = (text: string, places: number[], what: string) => {
    assert.doesNotMatch(
      text,
      /<script(?! type="module" src="\/assets\/)|<img src=x|alert\(\d\)<\/script/,
      what,
    );
    assert.equal(text.match(/<\/title>/g)?.length, 1, what);
    for (const place of places) assert.ok(text.includes(escaped(place)), `${place} is not on ${what}`);
  };
  const see = async (path: string, places: number[]) => {
    const { text, status } = await browser.get(path);
    assertShown(text, places, path);
    return status;
  };

  it("on the pages of the device flow, and among connected apps", async () => {
    const codes = await pages.authorize({ client_id: "evil" }, attack(deviceAgent));
    const at = `/oauth/device/${codes.user_code}`;
    await browser.post("/oauth/device", { user_code: codes.user_code, came_by_link: "1" });
    await see(`${at}/review`, [application, deviceAgent, organization, person]);
    const refused = await browser.post(`${at}/review`, {
      decision: "authorize",
      organization: organizationId,
    });
    assertShown(refused.text, [application, deviceAgent, organization], "the refusal");
    const form = { decision: "authorize", organization: organizationId, mine: "1" };
    assert.equal((await browser.post(`${at}/review`, form, agent)).status, 303);
    await see(`${at}/result`, [application]);
    await see(`${at}/review`, [application]);

    const { access_token } = await pages.poll(codes, "evil");
    await fetch(`${pages.url}/v2/user`, {
      headers: { authorization: `Bearer ${access_token}`, "user-agent": attack(apiAgent) },
    });
    await pages.services.usage.flush();
    await recordUsage(pages.services);
    const list = (await browser.get("/user/connected-apps")).text;
    assertShown(list, [application, browserAgent, organization], "the list");
    const id = /\/user\/connected-apps\/([0-9a-f-]{36})"/.exec(list)?.[1];
    await see(`/user/connected-apps/${id}`, [application, browserAgent, organization, apiAgent]);
    await see(`/user/connected-apps/${id}/revoke`, [application, organization]);
  });

  it("on the home page, in the menu and among tokens", async () => {
    await see("/organizations/evil", [person, organization]);
    await see("/user/api-access-tokens/new", [organization]);
    const fields = { organization: organizationId, scopes: "read_user", days: "30" };
    const created = await browser.post("/user/api-access-tokens/new", {
      ...fields,
      description: attack(description),
    });
    assertShown(created.text, [description], "the token");
    const list = (await browser.get("/user/api-access-tokens")).text;
    assertShown(list, [description, organization], "the tokens");
    const id = /\/user\/api-access-tokens\/([0-9a-f-]{36})\/revoke/.exec(list)?.[1];
    await see(`/user/api-access-tokens/${id}/revoke`, [description]);
  });

  it("in forms that return the sent values", async () => {
    const stranger = await pages.visitor();
    const text = attack(8);
    const signIn = await stranger.post("/sign-in", { email: text, password: "x", to: `/${text}` });
    assertShown(signIn.text, [8], "sign-in");
    const token = await browser.post("/user/api-access-tokens/new", {
      description: text,
      organization: text,
      days: text,
      id: text,
      scopes: text,
    });
    assertShown(token.text, [8], "the token's form");
    const unknown = { description: "x", organization: organizationId, scopes: text };
    assertShown((await browser.post("/user/api-access-tokens/new", unknown)).text, [8], "the unknown scope");
    const code = await browser.post("/oauth/device", { user_code: "'\"><script>x" });
    assert.match(code.text, /value="'&quot;>&lt;script>x"/);
  });

  it("in addresses: codes, notices, return paths, and unknown paths", async () => {
    const text = encodeURIComponent(attack(9));
    for (const path of [
      `/oauth/device/${text}`,
      `/oauth/device/${text}/review`,
      `/oauth/device/${text}/result`,
      `/organizations/evil?notice=${text}`,
      "/organizations/evil?notice=constructor",
      "/organizations/evil?notice=__proto__",
      `/sign-in?to=${text}`,
      `/sign-in?to=/${text}`,
      `/nowhere/${text}`,
      `/user/connected-apps/${text}`,
      `/user/api-access-tokens/${text}/revoke`,
      `/assets/${text}`,
    ]) {
      await see(path, []);
      const { text, status } = await (await pages.visitor()).get(path);
      if (status !== 303) assertShown(text, [], path);
    }
    assert.doesNotMatch((await browser.get("/organizations/evil?notice=constructor")).text, /class="notice"/);
    assert.match(
      (await browser.get("/organizations/evil?notice=signed_out")).text,
      /role="status">You have signed out/,
    );
  });

  it("keeps the first 500 characters of the user agents of device and browser", async () => {
    const long = (letter: string) => letter.repeat(3000);
    const codes = await pages.authorize({ client_id: "evil" }, long("d"));
    await browser.post("/oauth/device", { user_code: codes.user_code });
    const review = `/oauth/device/${codes.user_code}/review`;
    assert.match((await browser.get(review)).text, />d{500}</);

    const form = { decision: "authorize", organization: organizationId };
    await browser.post(review, form, { "user-agent": long("b") });

    await pages.poll(codes, "evil");
    assert.match((await browser.get("/user/connected-apps")).text, /Approved with b{500}</);
  });
});
