import assert from "node:assert/strict";
import { before, it } from "node:test";
import { and, eq, isNull } from "drizzle-orm";
import { hashToken, issueToken } from "../../shared/crypto/tokens.ts";
import { dayMs, secondMs } from "../../shared/durations.ts";
import { insertRefreshTokens } from "../../shared/oauth/grant-store.ts";
import { maxCurrentTokens } from "../../shared/oauth/refresh.ts";
import { describeWorld, withSettings } from "../helpers/databases.ts";
import {
  allGrants,
  assertOAuthError,
  refresh,
  setUpClient,
  signIn,
  type TestClient,
  tally,
} from "../helpers/device.ts";
import { openAcme } from "../helpers/organization.ts";

const perHour = 6;

describeWorld("many refreshes", withSettings(openAcme, { REFRESHES_PER_HOUR: String(perHour) }), (world) => {
  let client: TestClient;

  before(async () => {
    world.clock.freeze();
    client = await setUpClient(world, { refreshTokens: true });
  });

  const newTokens = () => signIn(world, client, world.acme);
  const many = (count: number, send: (index: number) => ReturnType<typeof refresh>) =>
    Promise.all(Array.from({ length: count }, (_, index) => send(index)));
  const refused = (token: string) => assertOAuthError(refresh(world, client, token), 400, "invalid_grant");
  const grantOf = async (refreshToken: string) => {
    const { refreshTokens } = world.services.db.tables;
    const isToken = eq(refreshTokens.tokenHash, hashToken(refreshToken));
    const [found] = await world.services.db.select().from(refreshTokens).where(isToken);
    return found?.grantId ?? "";
  };
  const countCurrentTokens = async (grantId: string) => {
    const { refreshTokens } = world.services.db.tables;
    const isCurrent = and(eq(refreshTokens.grantId, grantId), isNull(refreshTokens.rotatedAt));
    return (await world.services.db.select().from(refreshTokens).where(isCurrent)).length;
  };

  const assertOverLimit = async (token: string) => {
    const { headers } = await assertOAuthError(refresh(world, client, token), 429, "slow_down");
    const seconds = Number(headers.get("retry-after"));
    assert.ok(seconds > 0 && seconds <= 3700, String(seconds));
  };
  /** Counts transactions that are open at once. */
  it("of one grant are 429 slow_down over its limit, and leave other grants theirs", async () => {
    const [first, other] = [await newTokens(), await newTokens()];

    const answers = await many(perHour + 10, () => refresh(world, client, first.refresh_token));

    assert.deepEqual(tally(answers), { 200: perHour, slow_down: 10 });
    await assertOverLimit(first.refresh_token);
    assert.equal((await refresh(world, client, other.refresh_token)).status, 200);
  });

  it("leave a grant its newest refresh tokens only", async () => {
    const { refresh_token } = await newTokens();
    const grantId = await grantOf(refresh_token);
    const now = world.clock.now();
    const unused = Array.from({ length: maxCurrentTokens }, (_, index) => ({
      token: issueToken("refresh"),
      createdAt: new Date(now.getTime() + index),
    }));
    await world.services.db.transaction((tx) =>
      insertRefreshTokens(
        tx,
        unused.map(({ token, createdAt }) => ({
          tokenHash: hashToken(token),
          grantId,
          createdAt,
          expiresAt: new Date(now.getTime() + dayMs),
          rotatedAt: null,
        })),
      ),
    );
    world.clock.advance(secondMs);

    const { status, body } = await refresh(world, client, refresh_token);

    assert.equal(status, 200);
    assert.equal(await countCurrentTokens(grantId), maxCurrentTokens);
    await refused(unused[0]?.token ?? "");
    for (const token of [unused[1]?.token ?? "", body.refresh_token])
      assert.equal((await refresh(world, client, token)).status, 200);
    assert.equal(await countCurrentTokens(grantId), maxCurrentTokens);
  });

  it("do not hide the reuse of a rotated token", async () => {
    const first = await newTokens();
    const grantId = await grantOf(first.refresh_token);
    await many(perHour, () => refresh(world, client, first.refresh_token));
    await assertOverLimit(first.refresh_token);

    world.clock.advance(31 * secondMs);
    await refused(first.refresh_token);

    assert.ok(!(await allGrants(world)).some(({ id }) => id === grantId));
  });
});
