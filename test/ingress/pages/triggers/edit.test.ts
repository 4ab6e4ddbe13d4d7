import assert from "node:assert/strict";
import { afterEach, describe, it } from "node:test";
import { listAuditEvents } from "../../../../shared/accounts/audit-store.ts";
import { environmentOf, secretOf } from "../../../../shared/triggers/columns.ts";
import { updateTrigger } from "../../../../shared/triggers/triggers.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { post } from "../../../helpers/http.ts";
import { form, hiddenId, shownUrl, startTriggerPages, triggersPath } from "./trigger-pages.ts";

describeWorldOn(sqlite, "a trigger", startTriggerPages, (pages) => {
  afterEach(() => pages.clear());

  describe("editing", () => {
    it("takes the 64 KB of variables that a trigger may have", async () => {
      const { id } = await pages.acme.trigger();
      const value = "é=".repeat((64 * 1024) / 3 - 1);
      const fields = { ...form, environment_choice: "replace", environment: `TEXT=${value}` };

      const answer = await pages.member.post(`${triggersPath}/${id}/edit`, fields);

      assert.equal(answer.status, 303, answer.text);
      assert.deepEqual(environmentOf(pages.services.cipher, await pages.find(id)), { TEXT: value });
    });

    it("shows the names of variables and the end of the secret, and keeps both unless told", async () => {
      const secret = "the hook's secret 42";
      const environment = { REGION: "eu-value", TOKEN: "hidden-value" };
      const { id } = await pages.acme.trigger({ type: "github", secret, environment });
      const edit = `${triggersPath}/${id}/edit`;
      const page = await pages.member.get(edit);
      assert.match(page.text, /<code>REGION<\/code>, <code>TOKEN<\/code>/);
      assert.match(page.text, /which ends in 42/);
      assert.doesNotMatch(page.text, /eu-value|hidden-value|hook's secret|hook&#39;s secret|name="type"/);

      const fields = {
        ...form,
        label: "Renamed",
        verify: "1",
        secret: "",
        environment_choice: "keep",
        environment: "IGNORED=1",
        type: "webhook",
      };
      const answer = await pages.member.post(edit, fields);

      assert.equal(answer.headers.get("location"), `${triggersPath}/${id}?notice=trigger_saved`);
      const kept = await pages.find(id);
      assert.equal(kept.label, "Renamed");
      assert.equal(kept.type, "github");
      assert.deepEqual(environmentOf(pages.services.cipher, kept), environment);
      assert.equal(secretOf(pages.services.cipher, kept), secret);

      const others = { ...fields, environment_choice: "replace", environment: "NEW=1", secret: "another" };
      assert.equal((await pages.member.post(edit, others)).status, 303);
      const replaced = await pages.find(id);
      assert.deepEqual(environmentOf(pages.services.cipher, replaced), { NEW: "1" });
      assert.equal(secretOf(pages.services.cipher, replaced), "another");

      const { verify, ...unverified } = { ...fields, environment_choice: "replace", environment: "" };
      assert.equal((await pages.member.post(edit, unverified)).status, 303);
      const bare = await pages.find(id);
      assert.deepEqual([bare.secretSealed, bare.environmentSealed, verify], [null, null, "1"]);
    });
  });

  it("replaces no variables that were added while the form for the first ones was open", async () => {
    const { id } = await pages.acme.trigger({ environment: { THEIRS: "1" } });
    const given = { ...form, environment_choice: "first", environment: "OURS=1" };

    const refused = await pages.member.post(`${triggersPath}/${id}/edit`, given);

    assert.equal(refused.status, 422);
    assert.match(refused.text, /added meanwhile[\s\S]*<code>THEIRS<\/code>[\s\S]*OURS=1/);
    assert.deepEqual(environmentOf(pages.services.cipher, await pages.find(id)), { THEIRS: "1" });
  });

  it("replaces no variables that are added between the check of the form and its transaction", async (t) => {
    const { id } = await pages.acme.trigger();
    const { services } = pages;
    const addFirst: typeof services.db.transaction = async (work) => {
      await updateTrigger(services, pages.actor, await pages.find(id), { environment: { THEIRS: "1" } });
      return services.db.transaction(work);
    };
    t.mock.method(services.db, "transaction", addFirst, { times: 1 });

    const given = { ...form, environment_choice: "first", environment: "OURS=1" };
    const refused = await pages.member.post(`${triggersPath}/${id}/edit`, given);

    assert.equal(refused.status, 422);
    assert.deepEqual(environmentOf(services.cipher, await pages.find(id)), { THEIRS: "1" });
  });

  describe("actions on a trigger", () => {
    it("disabling and enabling apply at once, and appear in the audit log", async () => {
      const { id, path } = await pages.acme.trigger();
      const deliver = async () => (await post(pages.url + path, "{}")).status;
      const answer = await pages.member.post(`${triggersPath}/${id}/disable`);
      assert.equal(answer.headers.get("location"), `${triggersPath}/${id}?notice=trigger_disabled`);
      assert.equal(await deliver(), 403);
      await pages.member.post(`${triggersPath}/${id}/disable`);
      await pages.member.post(`${triggersPath}/${id}/enable`);
      assert.equal(await deliver(), 201);

      const audited = { organizationId: pages.acme.id, subjects: { types: ["trigger"], ids: [id] } };
      const events = await listAuditEvents(pages.services.db, audited, 10);
      assert.deepEqual(
        events.map(({ event }) => event.action),
        ["enabled", "disabled", "created"],
      );
      for (const action of ["enable", "disable"]) {
        const back = await pages.member.get(`${triggersPath}/${id}/${action}`);
        assert.equal(back.headers.get("location"), `${triggersPath}/${id}`);
      }
    });

    it("deleting needs a confirmation, and then the URL answers 404", async () => {
      const { id, path } = await pages.acme.trigger({ label: "Doomed" });
      const page = await pages.member.get(`${triggersPath}/${id}/delete`);
      assert.match(page.text, /Delete the trigger Doomed\?.*answers 404 at once/s);
      assert.equal((await post(pages.url + path, "{}")).status, 201);

      const answer = await pages.member.post(`${triggersPath}/${id}/delete`);

      assert.equal(answer.headers.get("location"), `${triggersPath}?notice=trigger_deleted`);
      assert.equal((await post(pages.url + path, "{}")).status, 404);
      assert.equal((await pages.member.post(`${triggersPath}/${id}/delete`)).status, 404);
    });

    it("replacing creates one copy with a new URL, shown once, even if sent again", async () => {
      const environment = { REGION: "eu" };
      const settings = { type: "github", label: "Leaked", environment, secret: "s3cret", buildBranch: "b" };
      const { id, path } = await pages.acme.trigger(settings);
      const page = await pages.member.get(`${triggersPath}/${id}/replace`);
      assert.match(page.text, /cannot be changed.*answers 404 at once/s);
      const fields = { id: hiddenId(page) };

      const answers = await Promise.all(
        [1, 2, 3].map(() => pages.member.post(`${triggersPath}/${id}/replace`, fields)),
      );
      answers.push(await pages.member.post(`${triggersPath}/${id}/replace`, fields));

      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409, 409]);
      const shown = answers.filter((answer) => shownUrl(answer) !== "");
      assert.equal(shown.length, 1);
      assert.match(shown[0]?.text ?? "", /<h1>Trigger replaced<\/h1>/);
      assert.doesNotMatch(shown[0]?.text ?? "", /s3cret/);
      const [copy, ...others] = (await pages.present()).filter(({ label }) => label === "Leaked");
      assert.deepEqual([copy?.id, others], [fields.id, []]);
      assert.equal(copy?.buildBranch, "b");
      assert.deepEqual(environmentOf(pages.services.cipher, await pages.find(fields.id)), environment);
      assert.equal((await post(pages.url + path, "{}")).status, 404);
      const fresh = new URL(shownUrl(shown[0] ?? assert.fail())).pathname;
      assert.equal((await post(pages.url + fresh, "{}")).status, 401, "it is verified as before");
    });

    it("simultaneous replacements create one copy; the second user sees an error", async () => {
      const { id } = await pages.acme.trigger({ label: "Contested" });
      const forms = await Promise.all([1, 2].map(() => pages.member.get(`${triggersPath}/${id}/replace`)));

      const answers = await Promise.all(
        forms.map((page) => pages.member.post(`${triggersPath}/${id}/replace`, { id: hiddenId(page) })),
      );

      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 404]);
      assert.equal((await pages.present()).filter(({ label }) => label === "Contested").length, 1);
    });
  });
});
