import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { before, it } from "node:test";
import type { Page } from "playwright-core";
import { requireOrganization } from "../../../../shared/accounts/organizations.ts";
import { requirePipeline } from "../../../../shared/pipelines/pipelines.ts";
import { listLatestRefused } from "../../../../shared/triggers/deliveries/refused-requests.ts";
import {
  describeInBrowser,
  enter as enterOn,
  follow,
  heading,
  mainText,
  openWindow,
  pressUntil,
  tabTo,
  typeInto,
} from "../../../helpers/browser.ts";
import { eventually, post } from "../../../helpers/http.ts";
import { startTriggerPages, triggersPath } from "../triggers/trigger-pages.ts";

const at = "/organizations/acme";

// The later walks need what the earlier ones made.
describeInBrowser("by keyboard alone and without JavaScript", startTriggerPages, (pages) => {
  let page: Page;
  let trigger: { id: string; path: string; secret: string };

  before(async () => {
    const cookie = await pages.cookieOf(pages.ada);
    page = await openWindow(pages.url, { cookie, javaScriptEnabled: false });
  });

  const enter = (name: string | RegExp) => enterOn(page, name);
  const type = (label: string, text: string) => typeInto(page, label, text);
  /** In a list that is closed, typing chooses an option. */
  const select = async (label: string, option: string) => {
    await tabTo(page, label);
    await page.keyboard.type(option);
  };
  const tick = async (label: RegExp) => {
    await tabTo(page, label);
    await page.keyboard.press("Space");
  };
  const focusOn = (selector: string) => page.locator(`${selector}:focus`).waitFor();

  it("an admin changes the settings of an organization, after a correction", async () => {
    await page.goto(`${at}/settings`);
    await type("Name", "Acme Works");
    await type("Deliveries per hour", "many");
    await enter("Save");
    await focusOn("#field-deliveries_per_hour");
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.type("500");
    await tick(/^Filters of triggers/);
    await enter("Save");

    assert.match(await mainText(page), /The settings are saved/);
    const { name, deliveriesPerHour, features } = await requireOrganization(pages.services.db, "acme");
    assert.deepEqual([name, deliveriesPerHour, features], ["Acme Works", 500, ["webhook_filtering"]]);
  });

  it("an admin changes a role and invites somebody, who joins and is removed", async () => {
    await page.goto(`${at}/members`);
    await enter(/^Make admin ?: Bob$/);
    assert.match(await mainText(page), /The role is changed/);
    await enter(/^Make member ?: Bob$/);
    await type("For", "Carol of sales");
    await select("Role", "Admin");
    await enter("Create link");
    assert.equal(await heading(page), "Invitation created");
    const link = await page.getByLabel("Link").inputValue();

    const admin = page;
    page = await openWindow(pages.url, { javaScriptEnabled: false });
    await page.goto(new URL(link).pathname);
    await type("Your name", "Carol");
    await type("Email address", "carol@acme.example.com");
    await type("Password", "a long enough password");
    await enter("Create account and join");
    assert.match(await mainText(page), /You have joined/);
    await page.context().close();
    page = admin;

    await enter("I have copied it");
    assert.match(await mainText(page), /Carol Admin carol@acme/);
    await enter("Remove Carol");
    assert.equal(await heading(page), "Remove Carol?");
    await enter("Remove");
    assert.match(await mainText(page), /The member is removed/);
    assert.doesNotMatch(await mainText(page), /carol@acme/);
  });

  it("a user makes a token by a preset of scopes, less one", async () => {
    await page.goto("/user/api-access-tokens/new");
    await type("Name", "Nightly");
    await select("Organization", "Acme Works");
    await enter("Make and watch builds");
    await focusOn("button[value=builds]");
    await tick(/read_build_logs$/);
    const ticked = page.locator("input[name=scopes]:checked");
    assert.deepEqual(
      await ticked.evaluateAll((boxes) => boxes.map((box) => (box as HTMLInputElement).value)),
      ["read_pipelines", "read_builds", "write_builds"],
    );
    await enter("Create token");

    assert.equal(await heading(page), "Token created");
    await enter("I have copied it");
    assert.match(await mainText(page), /Nightly/);
  });

  it("a user makes, edits and deletes a pipeline, its steps as rows and as JSON", async () => {
    const stepsOf = async () => (await requirePipeline(pages.services.db, pages.acme.id, "keys")).steps;
    await page.goto(`${at}/pipelines`);
    await enter("New pipeline");
    await type("Name", "Keys");
    await enter("Form");
    await type("Command", "make");
    await enter("Add a step");
    await focusOn("#field-step-1-command");
    await page.keyboard.type("make deploy");
    await enter("Create pipeline");
    assert.equal(await heading(page), "Keys");
    assert.deepEqual(await stepsOf(), [{ command: "make" }, { command: "make deploy" }]);

    await enter("Edit");
    await enter("Move step 1 down");
    await enter("JSON");
    assert.match(await page.getByLabel("Steps as JSON").inputValue(), /make deploy.*make"/s);
    await type("Steps as JSON", '[{"command":"make all"},"wait",{"command":"make deploy"}]');
    await enter("Save");
    assert.match(await mainText(page), /The steps are saved/);
    assert.deepEqual(await stepsOf(), [
      { command: "make all" },
      { type: "wait" },
      { command: "make deploy" },
    ]);

    await tabTo(page, "… More");
    await page.keyboard.press("Enter");
    await enter("Delete");
    await type("Type the name to confirm: Keys", "Keys");
    await enter("Delete");
    assert.match(await mainText(page), /The pipeline is deleted/);
  });

  it("a user makes a trigger that verifies an HMAC, with a generated secret", async () => {
    await page.goto(`${triggersPath}/new`);
    await tabTo(page, /^Webhook/);
    await pressUntil(page, "ArrowDown", /^HMAC/);
    await type("Label", "Artifacts");
    await enter("Generate");
    await focusOn("#field-secret");
    const secret = await page.getByLabel("Secret", { exact: true }).inputValue();
    await type("Header of the signature", "X-Hash");
    await select("Algorithm", "HMAC-SHA512");
    await type("Prefix", "v1=");
    await enter("Create trigger");

    assert.equal(await heading(page), "Trigger created");
    const [{ id } = { id: "" }] = await pages.present();
    const { pathname } = new URL(await page.getByLabel("URL", { exact: true }).inputValue());
    trigger = { id, path: pathname, secret };
    for (const branch of ["main", "draft", "main"]) {
      const body = JSON.stringify({ branch });
      const signature = `v1=${createHmac("sha512", secret).update(body).digest("hex")}`;
      assert.equal((await post(pages.url + pathname, body, { "X-Hash": signature })).status, 201);
    }
  });

  it("a user tries a filter on the latest deliveries, and saves it", async () => {
    await page.goto(`${triggersPath}/${trigger.id}/filter`);
    const filter = 'webhook.payload.branch == "main"';
    await type("Expression", filter);
    await enter("Try");
    assert.match(await mainText(page), /2 of the latest 3 would make a build/);
    await enter("Save");

    assert.equal(await heading(page), "Artifacts enabled Public preview");
    assert.equal((await pages.find(trigger.id)).filter, filter);
  });

  it("a user looks at a refused request", async () => {
    const { status } = await post(pages.url + trigger.path, '{"branch":"main"}', { "X-Hash": "v1=00" });
    assert.equal(status, 401);
    await eventually("the refused request", async () => {
      return (await listLatestRefused(pages.services, trigger.id)).length > 0;
    });
    await page.goto(`${triggersPath}/${trigger.id}`);
    await tabTo(page, "The latest refused requests");
    await page.keyboard.press("Enter"); // unfolds them
    await tabTo(page, "Table: Refused requests");
    await page.keyboard.press("Tab");
    await follow(page, () => page.keyboard.press("Enter"));

    assert.equal(await heading(page), "Refused request");
    assert.match(await mainText(page), /Signature wrong or missing/);
    assert.match(await mainText(page), /17 bytes, not kept/);
  });

  it("a user keeps the bodies of refused requests for an hour", async () => {
    await page.goto(`${triggersPath}/${trigger.id}`);
    await tabTo(page, "Keep bodies for an hour");
    await follow(page, () => page.keyboard.press("Enter"));
    // Of one cause, a process keeps one in five seconds.
    await eventually("another refused request", async () => {
      await post(pages.url + trigger.path, '{"branch"', { "X-Hash": "v1=00" });
      return (await listLatestRefused(pages.services, trigger.id)).length > 1;
    });

    await page.goto(`${triggersPath}/${trigger.id}`);
    await tabTo(page, "The latest refused requests");
    await page.keyboard.press("Enter");
    await tabTo(page, "Table: Refused requests");
    await page.keyboard.press("Tab");
    await follow(page, () => page.keyboard.press("Enter"));

    assert.equal(await heading(page), "Refused request");
    await tabTo(page, '{"branch"');
  });
});
