import assert from "node:assert/strict";
import { it } from "node:test";
import { updateOrganization } from "../../../../shared/accounts/organizations.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { read, startTriggerPages, triggersPath } from "./trigger-pages.ts";

const path = "/organizations/acme/try-filter";
const example = {
  expression: 'webhook.headers.HTTP_X_GITHUB_EVENT == "push" && webhook.payload.ref == "refs/heads/main"',
  headers: "X-GitHub-Event: push\r\n",
  payload: '{"ref": "refs/heads/main"}',
};

describeWorldOn(sqlite, "the trial of a filter on an example", startTriggerPages, (pages) => {
  const attempt = (fields: Partial<typeof example>) => pages.member.post(path, { ...example, ...fields });

  it("says true, or false with the values that were read", async () => {
    assert.match((await attempt({})).text, /True: this delivery would make a build/);

    const other = read(await attempt({ payload: '{"ref": "refs/heads/old"}' }));
    assert.match(other, /False: this delivery would make no build. It has:.*refs\/heads\/old.*<\/dl>/s);
    assert.match(other, /<textarea id="field-payload"[^>]*>\{"ref": "refs\/heads\/old"\}</);
    assert.match(read(await attempt({ headers: "" })), /No build: /);
    assert.match(read(await attempt({ expression: "webhook." })), /No build: /);
  });

  it("says at the field what is wrong", async () => {
    const blank = await attempt({ expression: " ", headers: "push" });
    assert.equal(blank.status, 422);
    assert.match(read(blank), /id="field-headers-problem">Line 1 of the headers has no : after a name\./);
    assert.match(read(blank), /id="field-expression-problem">Filter expression can't be blank\./);

    const broken = await attempt({ payload: "{" });
    assert.equal(broken.status, 400);
    assert.match(broken.text, /id="field-payload-problem">Payload is not valid JSON\./);
  });

  it("stores nothing", async () => {
    await attempt({});
    const { db } = pages.services;
    assert.deepEqual(await db.select().from(db.tables.deliveries), []);
  });

  it("says if triggers of the organization cannot have filters", async () => {
    const warning = /Triggers of this organization cannot have filters/;
    const allow = (isAllowed: boolean) =>
      updateOrganization(pages.services, "acme", { features: { webhook_filtering: isAllowed } });

    await allow(false);
    assert.match((await pages.member.get(path)).text, warning);
    await allow(true);
    assert.doesNotMatch((await pages.member.get(path)).text, warning);
  });

  it("is not for strangers", async () => {
    const stranger = await pages.visitor();
    const { status, headers } = await stranger.post(path, example);
    assert.equal(status, 303);
    assert.match(headers.get("location") ?? "", /^\/sign-in\?/);
    assert.equal((await pages.asAda.get("/organizations/nobody/try-filter")).status, 404);
  });
});

describeWorldOn(sqlite, "the page of a trigger's filter", startTriggerPages, (pages) => {
  it("has an example about messages where pushes have one, and leads to the guide", async () => {
    await updateOrganization(pages.services, "acme", { features: { webhook_filtering: true } });
    const about = '<code>!webhook.payload.head_commit.message.contains("[skip ci]")</code>';
    const shows = { github: true, gitea: true, gitlab: false, webhook: false };

    for (const [type, isShown] of Object.entries(shows)) {
      const { id } = await pages.acme.trigger({ type });
      const page = read(await pages.member.get(`${triggersPath}/${id}/filter`));
      assert.equal(page.includes(about), isShown, type);
      assert.match(page, /<a href="\/docs\/webhooks#filters"[^>]*><abbr[^>]*>CEL</);
    }
    assert.match((await pages.member.get("/docs/webhooks")).text, /id="filters"/);
  });
});
