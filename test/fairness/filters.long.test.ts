import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { updateOrganization } from "../../shared/accounts/organizations.ts";
import { openDueDeliveries } from "../../shared/triggers/deliveries/due.ts";
import { findDelivery } from "../helpers/builds.ts";
import { describeOnSqlite } from "../helpers/databases.ts";
import { eventually, post } from "../helpers/http.ts";
import { setUpOrganization, type TestOrganization } from "../helpers/organization.ts";
import { startWorld, type World } from "../helpers/world.ts";
import { slowFilter, slowPayload } from "../triggers/filter/slow-filter.ts";

const attacks = 60;

describeOnSqlite("60 deliveries that an organization's filter is slow to evaluate", (database) => {
  let world: World;
  let victim: TestOrganization;
  let attacker: TestOrganization;

  before(async () => {
    world = await startWorld(database);
    victim = await setUpOrganization(world, "victim");
    attacker = await setUpOrganization(world, "attacker");
    for (const slug of ["victim", "attacker"])
      await updateOrganization(world.services, slug, { features: { webhook_filtering: true } });
  });
  after(() => world.close());

  it("delay no other organization, evaluate three, and back off", async () => {
    const slow = await attacker.trigger({ filter: slowFilter });
    const unfiltered = await victim.trigger();
    const filtered = await victim.trigger({ filter: "webhook.payload.s == 'p'" });
    const send = async ({ path }: { path: string }, payload: string) => {
      let id = "";
      await eventually("it is accepted", async () => {
        const { status, body } = await post(world.url + path, payload);
        id = body.id;
        return status === 201; // a busy machine refuses some at first
      });
      return id;
    };
    const attackIds = await Promise.all(Array.from({ length: attacks }, () => send(slow, slowPayload)));
    const statusOf = async (id: string) => (await findDelivery(world, id))?.status;
    const countDecided = async () => {
      const statuses = await Promise.all(attackIds.map(statusOf));
      return statuses.filter((status) => status !== null).length;
    };
    const worker = openDueDeliveries(world.services);
    worker.wake();

    const first = await send(unfiltered, "{}");
    worker.wake();
    await eventually("the victim's build", async () => (await statusOf(first)) === "build_created");
    assert.ok((await countDecided()) <= 3, "it does not wait for the other 57");

    for (let sent = 0; sent < 10; sent++) {
      const id = await send(filtered, '{"s":"p"}');
      worker.wake();
      await eventually("the victim's build", async () => (await statusOf(id)) === "build_created");
    }
    assert.ok((await countDecided()) <= 3);

    await worker.idle();
    assert.equal(await countDecided(), 3);
    await worker.close();
  });
});
