import assert from "node:assert/strict";
import { it } from "node:test";
import { authenticate, createOwnAccessToken } from "../../shared/accounts/access-tokens.ts";
import { addMember, removeMember } from "../../shared/accounts/members.ts";
import { setPassword } from "../../shared/accounts/users.ts";
import { newId } from "../../shared/ids.ts";
import { describeOnBothDatabases, describeWorld } from "../helpers/databases.ts";
import { openAcme, setUpOrganization } from "../helpers/organization.ts";
import { startWorld } from "../helpers/world.ts";

describeWorld("a member who is removed", openAcme, (world) => {
  it("has no working token after joining again, even one made during the removal", async () => {
    const { services } = world;
    const membership = { email: world.acme.user.email, organization: "acme", role: "member" as const };
    const create = () =>
      createOwnAccessToken(services, world.acme.user.id, {
        id: newId(services.clock.now()),
        organizationId: world.acme.id,
        scopes: ["read_user"],
        description: "Script",
      }).catch(() => undefined);

    for (let round = 0; round < 10; round++) {
      const removing = removeMember(services, membership);
      const created = await Promise.all(Array.from({ length: 5 }, create));
      await removing;
      await addMember(services, membership);

      for (const token of created) assert.equal(token && (await authenticate(services, token)), undefined);
    }
  });
});

describeOnBothDatabases("the built-in Operator", (database) => {
  it("gets no password and no membership", async () => {
    const world = await startWorld(database);
    await setUpOrganization(world);
    const email = "operator@acme.invalid";

    await assert.rejects(setPassword(world.services, email, "a long password"), { status: 404 });
    await assert.rejects(addMember(world.services, { email, organization: "acme", role: "admin" }), {
      status: 404,
    });
    await world.close();
  });
});
