import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { listConnectedApps, revokeGrants } from "../../shared/oauth/grants.ts";
import type { Services } from "../../shared/process/services.ts";
import { describeOnBothDatabases } from "../helpers/databases.ts";
import {
  allGrants,
  assertOAuthError,
  refresh,
  setUpClient,
  signIn,
  type TestClient,
  tally,
} from "../helpers/device.ts";
import { get } from "../helpers/http.ts";
import { addPerson, setUpOrganization, type TestOrganization } from "../helpers/organization.ts";
import { runSecondIngress } from "../helpers/processes.ts";
import { startWorld, type World } from "../helpers/world.ts";

/** A race needs several tries. */
const rounds = Array.from({ length: 4 }, (_, index) => index + 1);

describeOnBothDatabases("simultaneous refreshes in two processes", (database) => {
  let world: World;
  let other: Awaited<ReturnType<typeof runSecondIngress>>;
  /** Shares the test's clock. */
  let here: { services: Services; url: string };
  let acme: TestOrganization;
  let client: TestClient;

  before(async () => {
    const settings = { DEVICE_AUTHORIZATIONS_PER_MINUTE: "1000", DATABASE_HOT_POOL_SIZE: "20" };
    world = await startWorld(database, settings);
    here = await world.another();
    other = await runSecondIngress(world, settings);
    acme = await setUpOrganization(world);
    client = await setUpClient(world, { refreshTokens: true });
  });
  after(async () => {
    await other.close();
    await world.close();
  });

  const inTurns = (index: number) => (index % 2 ? world : other);
  const times = <T>(count: number, act: (index: number) => Promise<T>) =>
    Promise.all(Array.from({ length: count }, (_, index) => act(index)));
  const statusOf = async (token: string) => (await get(`${other.url}/v2/access-token`, token)).status;
  const grantsOf = async (userId: string) =>
    (await allGrants(world)).filter((grant) => grant.userId === userId).length;
  const newMember = (role?: "admin" | "member") => addPerson(world, acme, role);

  it("gives each parallel client a working pair of one grant", async () => {
    const user = await newMember();
    for (const round of rounds) {
      const first = await signIn(world, client, { id: acme.id, user });

      const answers = await times(10, (index) => refresh(inTurns(index), client, first.refresh_token));

      assert.deepEqual(tally(answers), { 200: 10 });
      assert.equal(new Set(answers.map(({ body }) => body.refresh_token)).size, 10);
      assert.equal(await grantsOf(user.id), round);
      const again = await times(10, (index) =>
        refresh(inTurns(index), client, answers[index]?.body.refresh_token),
      );
      assert.deepEqual(tally(again), { 200: 10 });
    }
  });

  it("leaves no working token when the grant is revoked at the same time", async () => {
    const user = await newMember();
    const { db } = world.services;
    for (const _ of rounds) {
      const first = await signIn(world, client, { id: acme.id, user });
      const [app] = await listConnectedApps(world.services, user.id);

      const [, ...answers] = await Promise.all([
        revokeGrants(world.services, user.id, { id: app?.grant.id ?? "" }),
        ...Array.from({ length: 6 }, (_, index) => refresh(inTurns(index), client, first.refresh_token)),
      ]);

      for (const { status, body } of answers) {
        if (status === 400) assert.equal(body.error, "invalid_grant");
        else {
          assert.equal(await statusOf(body.access_token), 401);
          await assertOAuthError(refresh(other, client, body.refresh_token), 400, "invalid_grant");
        }
      }
      const left = (await db.select().from(db.tables.accessTokens)).filter((each) => each.userId === user.id);
      assert.deepEqual(left, []);
    }
  });

  it("ends the grant when a rotated token is reused late at the same time, in either order", async () => {
    const user = await newMember();
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
        assert.equal(await statusOf(access_token), 401);
        await assertOAuthError(refresh(world, client, refresh_token), 400, "invalid_grant");
      }
      assert.equal(await grantsOf(user.id), 0);
    }
  });
});
