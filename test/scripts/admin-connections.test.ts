import assert from "node:assert/strict";
import { before, it } from "node:test";
import { sealedPlaces } from "../../shared/crypto/sealed-places.ts";
import { describeWorld } from "../helpers/databases.ts";
import { setUpOrganization } from "../helpers/organization.ts";
import { startWorld } from "../helpers/world.ts";
import { runOperator } from "./operator.ts";

describeWorld("admin repository-connection", startWorld, (world) => {
  before(() => setUpOrganization(world));

  const run = async (verb: string, args: string[], input = "") => {
    const { code, stdout, stderr } = await runOperator(
      world,
      ["repository-connection", verb, "--org", "acme", ...args],
      { input },
    );
    return { code, said: stdout + stderr };
  };
  const findToken = async () => {
    const { db, cipher } = world.services;
    const [row] = await db.select().from(db.tables.repositoryConnections);
    const sealed = row?.tokenSealed;
    return row && sealed && cipher.open(sealed, sealedPlaces.tokenOfConnection(row.id));
  };

  it("creates, lists, changes and deletes connections, and prints no token", async () => {
    const host = ["--host", "git.example.com"];
    const created = await run(
      "create",
      ["--type", "gitea", "--url", "https://git.example.com", "--publish-statuses", "false", "--token"],
      "swordfish\n",
    );
    assert.equal(created.code, 0, created.said);
    assert.equal(await findToken(), "swordfish");
    const listed = await run("list", []);
    assert.partialDeepStrictEqual(JSON.parse(listed.said).repository_connections, [
      { host: "git.example.com", type: "gitea", publish_statuses: false, has_token: true },
    ]);

    const networks = ["--webhook-allowed-addresses", "192.0.2.0/24,2001:db8::/32"];
    const changed = await run("update", [...host, ...networks]);
    assert.deepEqual(JSON.parse(changed.said).webhook_allowed_addresses, ["192.0.2.0/24", "2001:db8::/32"]);
    assert.equal(await findToken(), "swordfish");
    const replaced = await run("update", [...host, "--token"], "trout");
    assert.equal(await findToken(), "trout");
    const removed = await run("update", [...host, "--token"], "");
    assert.equal(await findToken(), null);
    const deleted = await run("delete", host);
    assert.equal(await findToken(), undefined);
    for (const { code, said } of [created, listed, changed, replaced, removed, deleted]) {
      assert.equal(code, 0, said);
      assert.doesNotMatch(said, /swordfish|trout/);
    }
  });

  it("says what is wrong", async () => {
    assert.match((await run("create", ["--type", "svn"])).said, /Type must be one of github/);
    assert.match((await run("create", ["--type", "gitea"])).said, /URL can't be blank/);
    const statuses = ["--type", "github", "--publish-statuses", "yes"];
    assert.match((await run("create", statuses)).said, /Publish statuses must be true or false/);
    assert.match((await run("update", ["--host", "none.example.com"])).said, /No repository connection/);
    assert.match((await run("delete", ["--host", "none.example.com"])).said, /No repository connection/);
  });
});
