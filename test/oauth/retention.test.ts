import assert from "node:assert/strict";
import { before, it } from "node:test";
import { endedTokens } from "../../shared/oauth/retention.ts";
import { purgeAll } from "../../shared/retention/expiring.ts";
import { describeWorld } from "../helpers/databases.ts";
import {
  allGrants,
  assertOAuthError,
  refresh,
  setUpClient,
  signIn,
  type TestClient,
} from "../helpers/device.ts";
import { openAcme } from "../helpers/organization.ts";

const dayMs = 86_400_000;

describeWorld("ended tokens", openAcme, (world) => {
  let refreshing: TestClient;

  before(async () => {
    world.clock.freeze();
    refreshing = await setUpClient(world, { refreshTokens: true });
  });

  it("are purged after a week; the last one takes its grant along", async () => {
    const expiring = await setUpClient(world, { accessTokenMinutes: 60 });
    await signIn(world, expiring, world.acme);
    const purgeAfter = async (ms: number) => {
      world.clock.advance(ms);
      const { tokens } = await purgeAll(world.services, endedTokens);
      return [tokens, (await allGrants(world)).length];
    };

    assert.deepEqual(await purgeAfter(3_600_000 + 7 * dayMs), [0, 1]);
    assert.deepEqual(await purgeAfter(1), [1, 0]);
  });

  it("are kept long enough to detect reuse of a rotated refresh token", async () => {
    const first = await signIn(world, refreshing, world.acme);
    const second = (await refresh(world, refreshing, first.refresh_token)).body;
    world.clock.advance(29 * dayMs);
    const third = (await refresh(world, refreshing, second.refresh_token)).body;
    world.clock.advance(8 * dayMs);

    await purgeAll(world.services, endedTokens);
    await assertOAuthError(refresh(world, refreshing, first.refresh_token), 400, "invalid_grant");

    await assertOAuthError(refresh(world, refreshing, third.refresh_token), 400, "invalid_grant");
    assert.deepEqual(await allGrants(world), []);
  });

  it("leave a working grant in place", async () => {
    const lasting = await setUpClient(world);
    await signIn(world, lasting, world.acme);
    const { refresh_token } = await signIn(world, refreshing, world.acme);
    world.clock.advance(29 * dayMs);

    await purgeAll(world.services, endedTokens);

    assert.equal((await allGrants(world)).length, 2);
    assert.equal((await refresh(world, refreshing, refresh_token)).status, 200);
  });
});
