import assert from "node:assert/strict";
import { before, it } from "node:test";
import { listConnectedApps, revokeGrants } from "../../shared/oauth/grants.ts";
import { Refusal } from "../../shared/refusal.ts";
import type { Services } from "../../shared/services/services.ts";
import { describeWorld, withSettings } from "../helpers/databases.ts";
import {
  approveEntered,
  assertOAuthError,
  enterCode,
  poll,
  setUpClient,
  startDevice,
  type TestClient,
} from "../helpers/device.ts";
import { addPerson, type TestOrganization } from "../helpers/organization.ts";
import { startPages } from "../helpers/pages.ts";

const messageAt = (limit: number) =>
  `Member has reached their limit of ${limit} connected apps in this organization: revoke one on the page of connected apps, or ask the operator to raise CONNECTED_APPS_PER_MEMBER`;

const settings = { CONNECTED_APPS_PER_MEMBER: "3" };

describeWorld("the limit of connected apps of a member", withSettings(startPages, settings), (world) => {
  let second: Services;
  let acme: TestOrganization;
  let client: TestClient;

  before(async () => {
    world.clock.freeze();
    ({ acme } = world);
    client = await setUpClient(world);
    second = (await world.another()).services;
  });

  const enter = async () => {
    const device = await startDevice(world, client);
    return { ...device, code: (await enterCode(world, acme.user.id, device.userCode)).code };
  };
  type Entered = Awaited<ReturnType<typeof enter>>;
  const decide = ({ code }: Entered, services = world.services) => approveEntered({ services }, acme, code);
  const isRefused = (limit: number) => (error: unknown) => {
    assert.ok(error instanceof Refusal, String(error));
    assert.deepEqual([error.status, error.message], [422, messageAt(limit)]);
    return true;
  };
  const connected = async () => (await listConnectedApps(world.services, acme.user.id)).length;

  it("is kept by approvals that race in two processes, and each approved device gets its token", async () => {
    const devices = await Promise.all(Array.from({ length: 8 }, enter));

    const outcomes = await Promise.allSettled(
      devices.map((device, index) => decide(device, index % 2 ? second : world.services)),
    );

    assert.equal(outcomes.filter(({ status }) => status === "fulfilled").length, 3);
    for (const outcome of outcomes) if (outcome.status === "rejected") isRefused(3)(outcome.reason);
    const answers = await Promise.all(devices.map(({ deviceCode }) => poll(world, client, deviceCode)));
    assert.deepEqual(
      answers.map(({ status }) => status),
      outcomes.map(({ status }) => (status === "fulfilled" ? 200 : 400)),
    );
    assert.equal(await connected(), 3);
  });

  it("holds while approvals and redemptions race", async () => {
    await revokeGrants(world.services, acme.user.id, { applicationId: client.id });
    const approved = await Promise.all([enter(), enter()]);
    for (const device of approved) await decide(device);
    const more = await Promise.all(Array.from({ length: 6 }, enter));

    await Promise.allSettled([
      ...approved.map(({ deviceCode }) => poll(world, client, deviceCode)),
      ...more.map((device, index) => decide(device, index % 2 ? second : world.services)),
    ]);

    await Promise.all(more.map(({ deviceCode }) => poll(world, client, deviceCode)));
    assert.equal(await connected(), 3);
  });

  it("is said by the page", async () => {
    const { code, userCode } = await enter();
    const ada = await world.visitor(world.ada);
    await ada.get("/user/connected-apps");

    const form = { decision: "authorize", organization: acme.id };
    const { status, text } = await ada.post(`/oauth/device/${userCode}/review`, form);

    assert.deepEqual([status, text.includes(`${messageAt(3)}.`), code.state], [422, true, "pending"]);
  });

  it("leaves the request pending: it can be approved once an app was revoked", async () => {
    const device = await enter();
    await assert.rejects(decide(device), isRefused(3));
    await assertOAuthError(poll(world, client, device.deviceCode), 400, "authorization_pending");
    const [app] = await listConnectedApps(world.services, acme.user.id);

    await revokeGrants(world.services, acme.user.id, { id: app?.grant.id ?? "" });

    assert.ok(await decide(device));
    assert.equal((await poll(world, client, device.deviceCode)).status, 200);
  });

  it("keeps apps beyond a lower limit", async () => {
    const lower = { ...world.services, config: { ...world.services.config, connectedAppsPerMember: 2 } };
    await assert.rejects(decide(await enter(), lower), isRefused(2));
    assert.equal(await connected(), 3);
  });

  it("counts neither approvals that have expired nor apps of other members", async () => {
    await revokeGrants(world.services, acme.user.id, { applicationId: client.id });
    for (const device of await Promise.all([enter(), enter(), enter()])) await decide(device);
    await assert.rejects(decide(await enter()), isRefused(3));

    const bob = await addPerson(world, acme, "member");
    const { userCode } = await startDevice(world, client);
    const { code } = await enterCode(world, bob.id, userCode);
    assert.ok(await approveEntered(world, { id: acme.id, user: bob }, code));

    world.clock.advance(700_000);
    assert.ok(await decide(await enter()));
  });
});
