import assert from "node:assert/strict";
import { before, it } from "node:test";
import { listConnectedApps, revokeGrants } from "../../shared/oauth/grants.ts";
import { describeWorld } from "../helpers/databases.ts";
import { assertOAuthError, refresh, signIn, type TestClient, tally } from "../helpers/device.ts";
import type { TestOrganization } from "../helpers/organization.ts";
import type { World } from "../helpers/world.ts";
import { type Races, rounds, startRaces, times } from "./races.ts";

describeWorld("simultaneous refreshes in two processes", startRaces, (races) => {
  let world: World;
  let here: Races["here"];
  let acme: TestOrganization;
  let client: TestClient;

  before(async () => {
    ({ world, here, acme, client } = races);
  });

  it("gives each parallel client a working pair of one grant", async () => {
    const user = await races.newMember();
    for (const round of rounds) {
      const first = await signIn(world, client, { id: acme.id, user });

      const answers = await times(10, (index) => refresh(races.inTurns(index), client, first.refresh_token));

      assert.deepEqual(tally(answers), { 200: 10 });
      assert.equal(new Set(answers.map(({ body }) => body.refresh_token)).size, 10);
      assert.equal(await races.grantsOf(user.id), round);
      const again = await times(10, (index) =>
        refresh(races.inTurns(index), client, answers[index]?.body.refresh_token),
      );
      assert.deepEqual(tally(again), { 200: 10 });
    }
  });

  it("leaves no working token when the grant is revoked at the same time", async () => {
    const user = await races.newMember();
    const { db } = world.services;
    for (const _ of rounds) {
      const first = await signIn(world, client, { id: acme.id, user });
      const [app] = await listConnectedApps(world.services, user.id);

      const [, ...answers] = await Promise.all([
        revokeGrants(world.services, user.id, { id: app?.grant.id ?? "" }),
        ...Array.from({ length: 6 }, (_, index) =>
          refresh(races.inTurns(index), client, first.refresh_token),
        ),
      ]);

      for (const { status, body } of answers) {
        if (status === 400) assert.equal(body.error, "invalid_grant");
        else {
          assert.equal(await races.statusOf(body.access_token), 401);
          await assertOAuthError(refresh(races.other, client, body.refresh_token), 400, "invalid_grant");
        }
      }
      const left = (await db.select().from(db.tables.accessTokens)).filter((each) => each.userId === user.id);
      assert.deepEqual(left, []);
    }
  });

  it("ends the grant when a rotated token is reused late at the same time, in either order", async () => {
    const user = await races.newMember();
    for (const _ of rounds) {
      const first = await signIn(world, client, { id: acme.id, user });
      const second = (await refresh(world, client, first.refresh_token)).body;
      world.clock.advance(31_000);

      const [reused, refreshed] = await Promise.all([
        refresh(here, client, first.refresh_token),
        refresh(world, client, second.refresh_token),
      ]);

      assert.equal(reused.status, 400);
      for (const { access_token, refresh_token } of [second, refreshed.body]) {
        if (!access_token) continue;
        assert.equal(await races.statusOf(access_token), 401);
        await assertOAuthError(refresh(world, client, refresh_token), 400, "invalid_grant");
      }
      assert.equal(await races.grantsOf(user.id), 0);
    }
  });
});
