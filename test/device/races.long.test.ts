import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { addMember, removeMember, updateMember } from "../../shared/accounts/members.ts";
import { deny, enterUserCode, release } from "../../shared/device/decide.ts";
import { disableApplication, enableApplication } from "../../shared/oauth/applications.ts";
import { describeWorld } from "../helpers/databases.ts";
import {
  approveCode,
  approveEntered,
  assertOAuthError,
  enterCode,
  poll,
  refresh,
  setUpClient,
  startDevice,
  type TestClient,
  tally,
} from "../helpers/device.ts";
import type { TestOrganization } from "../helpers/organization.ts";
import type { World } from "../helpers/world.ts";
import { type Races, rounds, startRaces, times } from "../oauth/races.ts";

describeWorld("simultaneous device requests in two processes", startRaces, (races) => {
  let world: World;
  let here: Races["here"];
  let acme: TestOrganization;
  let client: TestClient;

  before(async () => {
    ({ world, here, acme, client } = races);
  });
  const approved = async (user: { id: string }, scope = "read_user") => {
    const device = await startDevice(world, client, { scope });
    await approveCode(world, { id: acme.id, user }, device.userCode);
    return device;
  };

  it("shares the poll interval between processes", async () => {
    for (const _ of rounds) {
      const { deviceCode } = await startDevice(world, client);

      const answers = await times(6, (index) => poll(races.inTurns(index), client, deviceCode));

      assert.deepEqual(tally(answers), { authorization_pending: 1, slow_down: 5 });
    }
  });

  describe("redeeming", () => {
    it("gives tokens to exactly one of 32 polls of an approved code, and makes one grant", async () => {
      const user = await races.newMember();
      for (const round of rounds) {
        const { deviceCode } = await approved(user);

        const answers = await times(32, (index) => poll(races.inTurns(index), client, deviceCode));

        assert.deepEqual(tally(answers), { 200: 1, invalid_grant: 31 });
        assert.equal(await races.grantsOf(user.id), round);
        const winner = answers.find(({ status }) => status === 200);
        assert.equal(await races.statusOf(winner?.body.access_token), 200);
      }
    });

    it("never gives tokens twice while the user approves, and never loses the approval", async () => {
      for (const _ of rounds) {
        const { deviceCode, userCode } = await startDevice(world, client);
        const { code } = await enterCode(world, acme.user.id, userCode);

        const [isApproved, ...answers] = await Promise.all([
          approveEntered(here, acme, code),
          ...Array.from({ length: 12 }, (_, index) => poll(races.inTurns(index), client, deviceCode)),
        ]);
        answers.push(await poll(world, client, deviceCode));

        assert.ok(isApproved);
        assert.equal(tally(answers)["200"], 1);
      }
    });

    it("answers tokens or an error while the application is disabled, and keeps the approval", async () => {
      for (const _ of rounds) {
        const doomed = await setUpClient(world);
        const { deviceCode, userCode } = await startDevice(world, doomed);
        await approveCode(world, acme, userCode);

        const [answer] = await Promise.all([
          poll(races.other, doomed, deviceCode),
          disableApplication(world.services, doomed.clientId),
        ]);

        if (answer.status === 200) assert.equal(await races.statusOf(answer.body.access_token), 401);
        else assert.deepEqual([answer.status, answer.body.error], [401, "invalid_client"]);
        await enableApplication(world.services, doomed.clientId);
        const later = await poll(races.other, doomed, deviceCode);
        assert.equal(later.status, answer.status === 200 ? 400 : 200);
      }
    });

    it("leaves no working token and no grant when the member is removed at the same time", async () => {
      const user = await races.newMember();
      const membership = { organization: acme.slug, email: user.email, role: "member" as const };
      for (const _ of rounds) {
        const { deviceCode } = await approved(user);

        const [answer] = await Promise.all([
          poll(races.other, client, deviceCode),
          removeMember(world.services, membership),
        ]);

        if (answer.status === 200) {
          assert.equal(await races.statusOf(answer.body.access_token), 401);
          const refreshed = refresh(races.other, client, answer.body.refresh_token);
          await assertOAuthError(refreshed, 400, "invalid_grant");
        } else assert.equal(answer.body.error, "access_denied");
        assert.equal(await races.grantsOf(user.id), 0);
        await addMember(world.services, membership);
      }
    });

    it("grants what the old or the new role allows when the role changes at the same time", async () => {
      const user = await races.newMember("admin");
      const change = (role: "admin" | "member") =>
        updateMember(world.services, { organization: acme.slug, email: user.email, role });
      for (const _ of rounds) {
        const { deviceCode } = await approved(user, "read_user write_clusters");

        const [{ status, body }] = await Promise.all([
          poll(races.other, client, deviceCode),
          change("member"),
        ]);

        assert.equal(status, 200);
        assert.ok(["read_user write_clusters", "read_user"].includes(body.scope), body.scope);
        await change("admin");
      }
    });
  });

  describe("deciding", () => {
    it("accepts either approval or denial, and polls agree", async () => {
      for (const _ of rounds) {
        const { deviceCode, userCode } = await startDevice(world, client);
        const { code } = await enterCode(world, acme.user.id, userCode);

        const [isApproved, isDenied] = await Promise.all([
          approveEntered(world, acme, code),
          deny(here.services, code.id, acme.user.id),
        ]);

        assert.notEqual(isApproved, isDenied);
        const { status, body } = await poll(races.other, client, deviceCode);
        assert.deepEqual([status, body.error], isApproved ? [200, undefined] : [400, "access_denied"]);
      }
    });

    it("lets a double click on Authorize approve once", async () => {
      for (const _ of rounds) {
        const { userCode } = await startDevice(world, client);
        const { code } = await enterCode(world, acme.user.id, userCode);

        const outcomes = await times(8, (index) =>
          approveEntered({ services: (index % 2 ? world : here).services }, acme, code),
        );

        assert.equal(outcomes.filter(Boolean).length, 1);
      }
    });

    it("gives a code to exactly one of two users who enter it", async () => {
      const second = await races.newMember();
      for (const _ of rounds) {
        const userCode = (await startDevice(world, client)).userCode.replace("-", "");
        const entries = await times(8, (index) => {
          const userId = index % 2 ? acme.user.id : second.id;
          return enterUserCode((index % 4 < 2 ? world : here).services, { userId, userCode }, false);
        });

        const ofFirst = entries.filter((_, index) => index % 2);
        const ofSecond = entries.filter((_, index) => index % 2 === 0);
        assert.equal(new Set(ofFirst).size, 1);
        assert.equal(new Set(ofSecond).size, 1);
        assert.notEqual(ofFirst[0], ofSecond[0]);
      }
    });

    it("refuses an approval after a release", async () => {
      for (const _ of rounds) {
        const { deviceCode, userCode } = await startDevice(world, client);
        const { code } = await enterCode(world, acme.user.id, userCode);

        const [isApproved, isReleased] = await Promise.all([
          approveEntered(world, acme, code),
          release(here.services, code.id, acme.user.id),
        ]);

        assert.notEqual(isApproved, isReleased);
        const { body } = await poll(races.other, client, deviceCode);
        assert.equal(body.error, isApproved ? undefined : "authorization_pending");
      }
    });
  });
});
