import assert from "node:assert/strict";
import { before, it } from "node:test";
import type { Page } from "playwright-core";
import { recordUsage } from "../../../../shared/accounts/access-tokens.ts";
import type { User } from "../../../../shared/accounts/user-store.ts";
import { click, describeInBrowser, heading, mainText, openWindow, press } from "../../../helpers/browser.ts";
import { get } from "../../../helpers/http.ts";
import { addApplication, startPages } from "../../../helpers/pages.ts";

const browserAgent = "Mozilla/5.0 (test) Firefox/140";

describeInBrowser("connected apps", startPages, (pages) => {
  let ada: Page;

  before(async () => {
    await addApplication(pages, { name: "Terraform", clientId: "terraform", refreshTokens: true });
    ada = await openWindow(pages.url, {
      cookie: await pages.cookieOf(pages.ada),
      userAgent: browserAgent,
    });
  });

  const connect = async (user: User, fields: Record<string, string>) => {
    const codes = await pages.authorize(fields);
    const person = await pages.visitor(user);
    const agent = { "user-agent": browserAgent };
    await person.post("/oauth/device", { user_code: codes.user_code });
    const form = { decision: "authorize", organization: pages.acme.id };
    await person.post(`/oauth/device/${codes.user_code}/review`, form, agent);
    return (await pages.poll(codes, fields.client_id)).access_token;
  };
  const userOf = (token: string, agent = "cli/1") =>
    fetch(`${pages.url}/v2/user`, { headers: { authorization: `Bearer ${token}`, "user-agent": agent } });

  it("explain to users without any how to connect one", async () => {
    await ada.goto("/user/connected-apps");

    assert.match(await mainText(ada), /You have authorized nothing yet/);
    assert.equal(await click(ada, "Connect a device").then(() => heading(ada)), "Connect a device");
  });

  it("show last use, expiry, permissions and the approving browser, and the rest in details", async () => {
    const token = await connect(pages.ada, {
      scope: "read_user read_builds read_clusters read_teams read_rules",
    });
    await ada.goto("/user/connected-apps");
    const entry = ada.getByRole("region", { name: "Authorized Applications" }).getByRole("listitem");
    const text = await entry.innerText();
    assert.match(
      text,
      /Can see your name and email address, see builds and their jobs, see clusters and their queues, and 2 more, in acme/,
    );
    assert.match(text, /Last used: never\s· No expiry/);
    assert.match(text, /Approved with Mozilla\/5\.0 \(test\) Firefox\/140/);

    await userOf(token, "deploy-cli/9.9");
    await pages.services.usage.flush();
    await recordUsage(pages.services);
    await click(ada, "Details of Deploy CLI");

    assert.equal(await heading(ada), "Deploy CLI");
    const details = await mainText(ada);
    for (const part of [
      "Organization acme",
      "Expiry No expiry",
      "Last used just now",
      "Last used by deploy-cli/9.9, IP address 127.0.0.1",
      "Approved with Mozilla/5.0 (test) Firefox/140, IP address 127.0.0.1",
      "read_rules",
      "read_teams",
    ])
      assert.ok(details.includes(part), `${part} is not in: ${details}`);
  });

  it("show when the refresh token expires or expired", async () => {
    await connect(pages.ada, { client_id: "terraform" });
    await ada.goto("/user/connected-apps");
    assert.match(await mainText(ada), /Last used: never\s· Expires in 30 days|Expires next month/);

    pages.clock.advance(31 * 86_400_000);
    await ada.context().addCookies([await cookie()]);
    await ada.goto("/user/connected-apps");

    assert.match(await mainText(ada), /Expired yesterday/);
  });

  const cookie = async () => {
    const [name = "", value = ""] = (await pages.cookieOf(pages.ada)).split("=");
    return { name, value, url: pages.url };
  };

  it("ask before a revocation, which ends access at once", async () => {
    const token = await connect(pages.ada, {});
    assert.equal((await userOf(token)).status, 200);
    await ada.goto("/user/connected-apps");
    await click(ada, "Revoke Deploy CLI");
    assert.equal(await heading(ada), "Revoke Deploy CLI?");
    assert.equal((await userOf(token)).status, 200);
    await click(ada, "Cancel");
    assert.equal(await heading(ada), "Connected apps");

    await click(ada, "Revoke Deploy CLI");
    await press(ada, "Revoke");

    assert.match(await ada.getByRole("status").innerText(), /Access is revoked/);
    assert.equal((await userOf(token)).status, 401);
  });

  it("revoke one application's access for one user only", async () => {
    const tokens = [await connect(pages.ada, {}), await connect(pages.ada, {})];
    const [other, bobs] = [
      await connect(pages.ada, { client_id: "terraform" }),
      await connect(pages.bob, {}),
    ];
    await ada.goto("/user/connected-apps");

    await click(ada, "Revoke all of Deploy CLI");
    assert.match(await mainText(ada), /All \d of its sign-ins end/);
    await press(ada, "Revoke all");

    const statuses = (held: string[]) =>
      Promise.all(held.map(async (token) => (await get(`${pages.url}/v2/user`, token)).status));
    assert.deepEqual(await statuses(tokens), [401, 401]);
    assert.deepEqual(await statuses([other, bobs]), [200, 200]);
    assert.doesNotMatch(await mainText(ada), /Deploy CLI/);
  });
});
