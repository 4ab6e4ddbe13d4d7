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
  postForm,
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
  const countTransactions = () => {
    const { hotDb } = world.services;
    const { transaction } = hotDb;
    const counts = { opened: 0, open: 0, maxOpen: 0 };
    hotDb.transaction = async (work) => {
      counts.opened++;
      counts.maxOpen = Math.max(counts.maxOpen, ++counts.open);
      return transaction.call(hotDb, work).finally(() => counts.open--) as never;
    };
    return { counts, stop: () => Object.assign(hotDb, { transaction }) };
  };

  it("of one grant are 429 slow_down over its limit, and leave other grants theirs", async () => {
    const [first, other] = [await newTokens(), await newTokens()];

    const { counts, stop } = countTransactions();

    const answers = await many(perHour + 10, () => refresh(world, client, first.refresh_token));
    stop();

    assert.deepEqual(tally(answers), { 200: perHour, slow_down: 10 });
    assert.deepEqual([counts.opened, counts.maxOpen], [perHour, 1], "they take turns");
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

  it("and revocations with unknown tokens open no transaction", async () => {
    const stranger = await setUpClient(world, { refreshTokens: true });
    const { refresh_token } = await newTokens();
    const { counts, stop } = countTransactions();

    const answers = await many(50, () => refresh(world, client, issueToken("refresh")));
    await assertOAuthError(refresh(world, stranger, refresh_token), 400, "invalid_grant");
    const revoke = (token: string, { clientId }: TestClient) =>
      postForm(`${world.url}/oauth/revoke`, { client_id: clientId, token });
    assert.equal((await revoke(issueToken("refresh"), client)).status, 200);
    await assertOAuthError(revoke(refresh_token, stranger), 400, "invalid_client");

    assert.deepEqual(tally(answers), { invalid_grant: 50 });
    assert.equal(counts.opened, 0);
    assert.equal((await refresh(world, client, refresh_token)).status, 200);
    assert.equal(counts.opened, 1);
    stop();
  });
});
