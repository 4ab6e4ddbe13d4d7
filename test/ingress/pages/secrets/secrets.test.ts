import assert from "node:assert/strict";
import { before, it } from "node:test";
import { sealedPlaces } from "../../../../shared/crypto/sealed-places.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

describeWorldOn(sqlite, "the pages of secrets", startQueuePages, (pages) => {
  let at: string;
  before(async () => {
    at = `${pages.paths.cluster}/secrets`;
  });

  const find = async (key: string) => {
    const { db, cipher } = pages.services;
    const [row] = (await db.select().from(db.tables.secrets)).filter((each) => each.key === key);
    assert.ok(row, key);
    return { ...row, value: cipher.open(row.valueSealed, sealedPlaces.valueOfSecret(row.id)) };
  };

  it("create a secret, and show its value nowhere", async () => {
    const value = "-----BEGIN KEY-----\r\nswordfish\r\n-----END KEY-----\r\n";
    const created = await pages.asAda.post(at, {
      key: "DEPLOY_KEY",
      value,
      description: "To deploy",
      policy: "",
    });

    assert.equal(created.headers.get("location"), `${at}?notice=secret_created`);
    const secret = await find("DEPLOY_KEY");
    assert.equal(secret.value, value.replaceAll("\r\n", "\n"));
    for (const visitor of [pages.asAda, pages.asBob]) {
      const { text } = await visitor.get(at);
      assert.match(text, /DEPLOY_KEY/);
      assert.match(text, /For every job of the cluster/);
      assert.doesNotMatch(text, /swordfish/);
    }
    assert.doesNotMatch((await pages.asAda.get(`${at}/${secret.id}`)).text, /swordfish/);
    assert.match((await pages.asAda.get(pages.paths.cluster)).text, new RegExp(`href="${at}"`));
  });

  it("say what is wrong, and do not repeat the value", async () => {
    const refused = await pages.asAda.post(at, { key: "A-B", value: "swordfish", policy: "x: y" });

    assert.equal(refused.status, 422);
    assert.match(refused.text, /Key can only contain letters/);
    assert.match(refused.text, /Policy: line 1, column 1: must be a list of rules/);
    assert.match(refused.text, /not kept: please type it again/);
    assert.doesNotMatch(refused.text, /swordfish/);
  });

  it("change description and policy, and the value apart from them", async () => {
    await pages.asAda.post(at, { key: "CHANGED", value: "one", description: "", policy: "" });
    const { id } = await find("CHANGED");
    const policy = "- pipeline_slug: web\r\n";

    const saved = await pages.asAda.post(`${at}/${id}`, { description: "<b>New</b>", policy });
    assert.equal(saved.headers.get("location"), `${at}/${id}?notice=secret_saved`);
    const replaced = await pages.asAda.post(`${at}/${id}/value`, { value: "two" });
    assert.equal(replaced.headers.get("location"), `${at}/${id}?notice=secret_replaced`);

    const secret = await find("CHANGED");
    assert.deepEqual(
      [secret.description, secret.policy, secret.value],
      ["<b>New</b>", "- pipeline_slug: web\n", "two"],
    );
    assert.doesNotMatch((await pages.asAda.get(at)).text, /<b>New/);
    assert.match((await pages.asAda.get(at)).text, /For jobs that its policy allows/);
    assert.equal((await pages.asAda.post(`${at}/${id}/value`, { value: "" })).status, 422);
    assert.equal((await pages.asAda.post(`${at}/${id}`, { policy: "[]" })).status, 422);
  });

  it("delete a secret after a question", async () => {
    await pages.asAda.post(at, { key: "GONE", value: "one", description: "", policy: "" });
    const { id } = await find("GONE");

    assert.match((await pages.asAda.get(`${at}/${id}/delete`)).text, /Delete the secret GONE\?/);
    const deleted = await pages.asAda.post(`${at}/${id}/delete`, {});

    assert.equal(deleted.headers.get("location"), `${at}?notice=secret_deleted`);
    assert.equal((await pages.asAda.get(`${at}/${id}`)).status, 404);
  });
});
