import assert from "node:assert/strict";
import { before, it } from "node:test";
import { sealedPlaces } from "../../shared/crypto/sealed-places.ts";
import { describeWorld } from "../helpers/databases.ts";
import { setUpOrganization } from "../helpers/organization.ts";
import { startWorld } from "../helpers/world.ts";
import { runOperator } from "./operator.ts";

describeWorld("admin cluster-secret", startWorld, (world) => {
  before(() => setUpOrganization(world));

  const run = async (verb: string, args: string[], input = "") => {
    const at = ["--org", "acme", "--cluster", "Primary"];
    const { code, stdout, stderr } = await runOperator(world, ["cluster-secret", verb, ...at, ...args], {
      input,
    });
    return { code, said: stdout + stderr };
  };
  const findValue = async (key: string) => {
    const { db, cipher } = world.services;
    const [row] = (await db.select().from(db.tables.secrets)).filter((each) => each.key === key);
    return row && cipher.open(row.valueSealed, sealedPlaces.valueOfSecret(row.id));
  };

  it("creates, lists, changes and deletes secrets, and prints no value", async () => {
    const policy = "- pipeline_slug: web";
    const created = await run("create", ["--key", "DEPLOY_KEY", "--policy", policy], "swordfish\n");
    assert.equal(created.code, 0, created.said);
    assert.equal(await findValue("DEPLOY_KEY"), "swordfish\n");

    const listed = await run("list", []);
    assert.deepEqual(
      JSON.parse(listed.said).secrets.map((each: { key: string; policy: string }) => [each.key, each.policy]),
      [["DEPLOY_KEY", policy]],
    );
    const replaced = await run("set-value", ["--key", "deploy_key"], "trout");
    assert.equal(await findValue("DEPLOY_KEY"), "trout");
    const deleted = await run("delete", ["--key", "DEPLOY_KEY"]);
    assert.equal(await findValue("DEPLOY_KEY"), undefined);
    for (const { code, said } of [created, listed, replaced, deleted]) {
      assert.equal(code, 0);
      assert.doesNotMatch(said, /swordfish|trout/);
    }
  });

  it("says what is wrong", async () => {
    assert.match((await run("create", ["--key", "A-B"], "x")).said, /Key can only contain letters/);
    assert.match((await run("create", ["--key", "AB"])).said, /Value can't be blank/);
    assert.match((await run("delete", ["--key", "NONE"])).said, /secret.*NONE/);
  });
});
