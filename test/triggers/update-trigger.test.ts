import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sign } from "@octokit/webhooks-methods";
import { sealedPlaces } from "../../shared/crypto/sealed-places.ts";
import { openEnvironment } from "../../shared/pipelines/environment.ts";
import { buildOfDelivery } from "../helpers/builds.ts";
import { describeWorldOn, sqlite } from "../helpers/databases.ts";
import { addPerson } from "../helpers/organization.ts";
import { type MadeTrigger, openTriggerApi } from "../helpers/trigger-api.ts";

describeWorldOn(sqlite, "an existing trigger", openTriggerApi, (api) => {
  const secret = "It's a secret";
  const build = { message: "Pushed", commit: "abc123", branch: "dev", environment: { A: "1", B: "2" } };
  const fresh = async (body: object = {}) => {
    const { slug } = await api.newPipeline();
    const verification = { strategy: "hmac", secret };
    const made = await api.newTrigger({ type: "github", build, verification, ...body }, slug);
    return { ...made, path: `${api.triggersAt(slug)}/${made.id}` };
  };
  const patch = async ({ path }: { path: string }, body: object) => {
    const answer = await api.send("PATCH", path, { body });
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual((await api.send("GET", path)).body, answer.body);
    return answer.body;
  };
  const signed = async (by: string, body = "{}") => ({ "X-Hub-Signature-256": await sign(by, body) });
  const nextBuild = async (trigger: MadeTrigger) => {
    const id = await api.deliver(trigger, "{}", await signed(secret));
    await api.work(id);
    const {
      message,
      commit,
      branch,
      environmentSealed = null,
    } = (await buildOfDelivery(api.world, id)) ?? {};
    const environment = openEnvironment(
      api.world.services.cipher,
      environmentSealed,
      sealedPlaces.variablesOfBuilds,
    );
    return { message, commit, branch, environment };
  };

  describe("PATCH", () => {
    it("changes only the sent members, nested ones too", async () => {
      const trigger = await fresh();
      const { endpoint_url: _, path: __, ...before } = trigger as typeof trigger & { build: object };
      api.world.clock.advance(1000);

      const relabelled = await patch(trigger, { label: "Other" });
      assert.ok(relabelled.updated_at > relabelled.created_at);
      assert.deepEqual(relabelled, { ...before, label: "Other", updated_at: relabelled.updated_at });

      const rebranched = await patch(trigger, { build: { branch: "next" } });
      const changed = { build: { ...before.build, branch: "next" }, updated_at: rebranched.updated_at };
      assert.deepEqual(rebranched, { ...relabelled, ...changed });
      assert.deepEqual(await nextBuild(trigger), { ...build, branch: "next" });
    });

    it("changes nothing for an empty body", async () => {
      const trigger = await fresh();
      const { endpoint_url: _, path: __, ...before } = trigger;

      for (const body of [{}, { build: {} }, { type: "github" }]) {
        const { updated_at, ...after } = await patch(trigger, body);
        assert.deepEqual({ ...after, updated_at: after.created_at }, before);
      }
      assert.deepEqual(await nextBuild(trigger), build);
    });

    it("restores the defaults of message, commit and branch with null", async () => {
      const trigger = await fresh();

      const one = await patch(trigger, { build: { commit: null } });
      assert.deepEqual([one.build.message, one.build.commit, one.build.branch], ["Pushed", "HEAD", "dev"]);
      const all = await patch(trigger, { build: { message: null, commit: null, branch: null } });
      assert.deepEqual(
        [all.build.message, all.build.commit, all.build.branch],
        ["Triggered build", "HEAD", "main"],
      );

      const { environment } = build;
      const defaults = { message: "Triggered build", commit: "HEAD", branch: "main", environment };
      assert.deepEqual(await nextBuild(trigger), defaults);
    });

    it("replaces the whole environment", async () => {
      const trigger = await fresh();

      const replaced = await patch(trigger, { build: { environment: { B: "3", C: "4" } } });
      assert.deepEqual(replaced.build.environment_variables, ["B", "C"]);
      assert.deepEqual((await nextBuild(trigger)).environment, { B: "3", C: "4" });

      const none = await patch(trigger, { build: { environment: {} } });
      assert.deepEqual(none.build.environment_variables, []);
      assert.deepEqual((await nextBuild(trigger)).environment, {});
    });

    it("names the last editor", async () => {
      const trigger = await fresh();
      const member = await addPerson(api.world, api.acme);
      const token = await api.tokenOf(member, ["write_pipelines"]);

      const { body } = await api.send("PATCH", trigger.path, { token, body: { enabled: false } });

      assert.deepEqual([body.created_by.id, body.updated_by.id], [api.admin.id, member.id]);
    });

    it("keeps the secret if verification has none, and removes it with null", async () => {
      const trigger = await fresh();

      for (const verification of [{ strategy: "hmac" }, {}, { strategy: null }, { strategy: "" }]) {
        const kept = await patch(trigger, { verification });
        assert.deepEqual(kept.verification, { strategy: "hmac", secret_hint: "XXXXXXXXXXXXXXXXXXXXet" });
      }
      assert.equal((await api.post(trigger, "{}", await signed(secret))).status, 201);
      assert.equal((await api.post(trigger, "{}")).status, 401);

      const other = await patch(trigger, { verification: { secret: "another" } });
      assert.equal(other.verification.secret_hint, "XXXXXXXXXXXXXXXXXXXXer");
      assert.equal((await api.post(trigger, "{}", await signed(secret))).status, 401);
      assert.equal((await api.post(trigger, "{}", await signed("another"))).status, 201);

      const none = await patch(trigger, { verification: null });
      assert.equal(none.verification, null);
      assert.equal((await api.post(trigger, "{}")).status, 201);
      const blank = await api.send("PATCH", trigger.path, { body: { verification: { strategy: "hmac" } } });
      assert.deepEqual([blank.status, blank.body.message], [422, "Validation failed: Secret can't be blank"]);
    });

    it("sets and removes a filter if the organization has the feature", async () => {
      const trigger = await fresh();
      const filter = { expression: "webhook.payload.a == 1" };
      const refused = await api.send("PATCH", trigger.path, { body: { filter } });
      const message = "Validation failed: Filters are not available to this organization";
      assert.deepEqual([refused.status, refused.body], [422, { message }]);

      await api.features({ webhook_filtering: true });
      assert.deepEqual((await patch(trigger, { filter })).filter, filter);
      await api.features({ webhook_filtering: false });
      assert.deepEqual((await patch(trigger, { label: "Still filtered" })).filter, filter);
      assert.deepEqual((await patch(trigger, { filter })).filter, filter);
      const changed = await api.send("PATCH", trigger.path, { body: { filter: { expression: "true" } } });
      assert.deepEqual([changed.status, changed.body], [422, { message }]);
      assert.equal((await patch(trigger, { filter: null })).filter, null);
      assert.equal((await api.send("PATCH", trigger.path, { body: { filter } })).status, 422);
    });

    it("answers 422 to invalid values, and changes nothing", async () => {
      const trigger = await fresh();
      const plain = await fresh({ type: "webhook", verification: null });
      const { body: before } = await api.send("GET", trigger.path);
      const hmac = { strategy: "hmac", secret: "s" };
      const cases: [string, object, { path: string }?][] = [
        ["Type cannot be changed", { type: "linear" }],
        ["Label can't be blank", { label: "" }],
        ["Enabled must be true or false", { enabled: null }],
        ["Build must be an object", { build: null }],
        [
          "Label can't be blank, Type cannot be changed, Filters are not available to this organization",
          { label: "", type: "linear", filter: { expression: "true" } },
        ],
        ["Secret can't be blank", { verification: { strategy: "hmac", secret: "" } }],
        ["Verification is not available for webhook triggers", { verification: hmac }, plain],
        ["Verification is not available for webhook triggers", { verification: { strategy: "hmac" } }, plain],
        ["Trigger has no member named id", { id: trigger.id }],
        ["Trigger has no member named endpoint_url", { endpoint_url: "x" }],
      ];
      const signed = await fresh({ type: "hmac" });
      const cannot = "Label can't be blank, Verification can't be left out of hmac triggers";
      cases.push([
        `${cannot}. Choose the type webhook to take what is not signed`,
        { label: "", verification: null },
        signed,
      ]);
      for (const [reason, body, of = trigger] of cases) {
        const answer = await api.send("PATCH", of.path, { body });
        const message = `Validation failed: ${reason}`;
        assert.deepEqual([answer.status, answer.body], [422, { message }], JSON.stringify(body));
      }
      assert.deepEqual((await api.send("GET", trigger.path)).body, before);
    });
  });

  describe("DELETE", () => {
    it("removes it from the API, the list and its URL", async () => {
      const trigger = await fresh();
      const list = trigger.path.replace(/\/[^/]+$/, "");

      const deleted = await api.send("DELETE", trigger.path);

      assert.deepEqual([deleted.status, deleted.text], [204, ""]);
      const below = [trigger.path, `${trigger.path}/deliveries`];
      for (const path of below) {
        const { status, body } = await api.send("GET", path);
        assert.deepEqual([status, body], [404, { message: "No pipeline trigger found" }], path);
      }
      for (const [method, body] of [["PATCH", { label: "x" }], ["DELETE"]] as const)
        assert.equal((await api.send(method, trigger.path, body ? { body } : {})).status, 404);
      assert.deepEqual((await api.send("GET", list)).body.items, []);
      const posted = await api.post(trigger, "{}", await signed(secret));
      assert.deepEqual([posted.status, posted.body], [404, { message: "Pipeline trigger not found" }]);
    });

    it("deletes the triggers of a deleted pipeline", async () => {
      const trigger = await fresh();
      const pipeline = trigger.path.split("/triggers")[0] ?? "";

      assert.equal((await api.send("DELETE", pipeline)).status, 204);

      const posted = await api.post(trigger, "{}", await signed(secret));
      assert.deepEqual([posted.status, posted.body], [404, { message: "Pipeline trigger not found" }]);
      assert.equal((await api.send("GET", trigger.path)).body.message, "No pipeline found");
    });
  });
});
