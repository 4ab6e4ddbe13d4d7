import assert from "node:assert/strict";
import { afterEach, describe, it } from "node:test";
import { newId } from "../../../../shared/ids.ts";
import { buildWebhook } from "../../../helpers/builds.ts";
import { describeWorld } from "../../../helpers/databases.ts";
import { post } from "../../../helpers/http.ts";
import { setUpOrganization } from "../../../helpers/organization.ts";
import { assertRefused, form, hiddenId, startTriggerPages, triggersPath } from "./trigger-pages.ts";

describeWorld("the pages of triggers", startTriggerPages, (pages) => {
  afterEach(() => pages.clear());

  describe("the list", () => {
    it("explains triggers when empty, and is linked from the pipeline", async () => {
      const path = await pages.ofOwn("empty");
      const pipeline = await pages.member.get("/organizations/acme/pipelines/empty");
      assert.match(pipeline.text, new RegExp(`href="${path}"`));
      assert.doesNotMatch(pipeline.text, /Public preview/, "triggers are, and their pages say so");
      const { text, status } = await pages.member.get(path);
      assert.equal(status, 200);
      assert.match(text, /No trigger yet\. A trigger is a URL/);
      assert.match(text, /Public preview/);
    });

    it("shows type, state, last delivery with its status, and the end of the URL", async () => {
      const path = await pages.ofOwn("listed");
      const hook = await pages.acme.trigger({ type: "linear", label: "Issues" }, "listed");
      await pages.acme.trigger({ label: "Off", enabled: false }, "listed");
      await post(pages.url + hook.path, "{}");
      await buildWebhook(pages, hook.path, "{}");
      await post(pages.url + hook.path, "{}");

      const secret = "a secret of the sender";
      await pages.acme.trigger({ type: "linear", label: "Signed", secret }, "listed");

      const [signed = "", off = "", issues = ""] = (await pages.member.get(path)).text.split("<tr>").slice(2);

      assert.match(issues, />not verified</);
      assert.doesNotMatch(signed, /not verified/);
      assert.doesNotMatch(off, /not verified/, "a webhook has no signature");
      assert.match(issues, new RegExp(`href="${path}/${hook.id}">Issues</a>`));
      assert.match(issues, />Linear<.*>enabled<.*<time [^>]*>just now<.*in process/s);
      assert.ok(issues.includes(`…${hook.tokenHint}`));
      assert.match(off, />Webhook<.*>disabled<.*none yet/s);
    });

    it("has no form for an eleventh trigger", async () => {
      const path = await pages.ofOwn("full");
      const before = { ...form, id: hiddenId(await pages.member.get(`${path}/new`)) };
      for (let made = 0; made < 10; made++) await pages.acme.trigger({}, "full");

      const { text } = await pages.member.get(path);
      assert.match(text, /A pipeline can have at most 10 triggers/);
      assert.doesNotMatch(text, /New trigger/);
      assert.match((await pages.member.get(`${path}/new`)).text, /has 10 triggers already/);
      assertRefused(
        await pages.member.post(`${path}/new`, before),
        "Pipeline has reached its limit of 10 triggers.",
      );
    });
  });

  describe("setting up", () => {
    it("explains the sender's settings and the limits of the preview", async () => {
      const says = async (type: string, words: RegExp[]) => {
        const { id } = await pages.acme.trigger({ type });
        const { text, status } = await pages.member.get(`${triggersPath}/${id}/setup`);
        assert.equal(status, 200);
        for (const each of [...words, /cannot be rotated/, /IP addresses/, /headers of a delivery/, /5 MB/])
          assert.match(text, each);
      };
      await says("github", [/Settings → Webhooks → Add webhook/, /Payload URL/, /application\/json/]);
      await says("linear", [/Settings → API → Webhooks/, /signing secret/]);
      await says("webhook", [/curl -X POST/, /Idempotency-Key/, />429</, />201</]);
    });
  });

  describe("are for members", () => {
    it("404 for other users and for other pipelines' triggers; 403 without the CSRF token", async () => {
      const other = await setUpOrganization(pages, "initech");
      const theirs = await other.trigger();
      const ours = await pages.acme.trigger();
      const below = ["edit", "replace", "delete", "enable", "disable"];
      const reading = ["", "/new", ...["setup", ...below].map((each) => `/${theirs.id}/${each}`)];
      const elsewhere = `/organizations/initech/pipelines/web/triggers`;
      for (const path of reading) assert.equal((await pages.member.get(elsewhere + path)).status, 404, path);
      const fields = { ...form, id: newId(pages.clock.now()) };
      for (const path of ["/new", ...below.map((each) => `/${theirs.id}/${each}`)])
        assert.equal((await pages.member.post(elsewhere + path, fields)).status, 404, path);
      for (const each of below)
        for (const id of [theirs.id, "x", "%00", newId(pages.clock.now())])
          assert.equal(
            (await pages.member.post(`${triggersPath}/${id}/${each}`, fields)).status,
            404,
            `${each} ${id}`,
          );

      for (const path of ["/new", ...below.map((each) => `/${ours.id}/${each}`)]) {
        assert.equal(
          (await pages.member.post(triggersPath + path, { ...fields, csrf_token: "x" })).status,
          403,
          path,
        );
        const nobody = await pages.visitor();
        const to = `/sign-in?to=${encodeURIComponent(triggersPath + path)}`;
        assert.equal((await nobody.get(triggersPath + path)).headers.get("location"), to);
        assert.equal((await nobody.post(triggersPath + path, fields)).headers.get("location"), to);
      }
    });
  });
});
