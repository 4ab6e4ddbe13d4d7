import assert from "node:assert/strict";
import { it } from "node:test";
import { findBuildMails } from "../../../shared/accounts/member-store.ts";
import { openApi } from "../../helpers/api.ts";
import { describeWorld } from "../../helpers/databases.ts";
import { addPerson } from "../../helpers/organization.ts";

describeWorld("/v2/organizations/:org/mails", openApi, (api) => {
  it("is the choice of the token's user", async () => {
    const bob = await addPerson(api.world, api.acme, "member");
    const token = await api.tokenOf(bob, ["read_user", "write_user"]);
    assert.deepEqual((await api.send("GET", "/mails", { token })).body, {
      build_mails: "failed",
      email: bob.email,
    });

    for (const choice of ["all", "none"] as const) {
      const { status, body } = await api.send("PATCH", "/mails", { token, body: { build_mails: choice } });
      assert.deepEqual([status, body], [200, { build_mails: choice, email: bob.email }]);
      assert.equal(await findBuildMails(api.world.services.db, api.acme.id, bob.id), choice);
    }
    assert.equal((await api.send("PATCH", "/mails", { token, body: {} })).body.build_mails, "none");
    assert.equal((await api.send("GET", "/mails")).body.build_mails, "failed", "each has their own");
  });

  it("403: a token without the scope", async () => {
    const body = { build_mails: "all" };
    const reading = await api.tokenOf(api.admin, ["read_user"]);
    assert.equal((await api.send("PATCH", "/mails", { token: reading, body })).status, 403);
    const writing = await api.tokenOf(api.admin, ["write_user"]);
    assert.equal((await api.send("GET", "/mails", { token: writing })).status, 403);
  });

  it("422: another choice", async () => {
    for (const build_mails of ["some", null, 1, ""]) {
      const { status, body } = await api.send("PATCH", "/mails", { body: { build_mails } });
      assert.equal(status, 422);
      assert.match(body.message, /^Validation failed: Build mails must be one of failed, all, none$/);
    }
  });
});
