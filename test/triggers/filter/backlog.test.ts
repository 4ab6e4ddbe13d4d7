import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { updateOrganization } from "../../../shared/accounts/organizations.ts";
import { openDeliveryBuilder } from "../../../shared/triggers/deliveries/build.ts";
import type { Evaluation } from "../../../shared/triggers/filter/evaluator.ts";
import { openFilterLanes } from "../../../shared/triggers/filter/lanes.ts";
import { findDelivery, requeuedOf } from "../../helpers/builds.ts";
import { describeOnBothDatabases } from "../../helpers/databases.ts";
import { eventually, post } from "../../helpers/http.ts";
import { setUpOrganization, type TestOrganization } from "../../helpers/organization.ts";
import { startWorld, type World } from "../../helpers/world.ts";

describeOnBothDatabases("deliveries that wait for their filter", (database) => {
  let world: World;
  const organizations: TestOrganization[] = [];

  before(async () => {
    world = await startWorld(database);
    for (const slug of ["a", "b"]) {
      organizations.push(await setUpOrganization(world, slug));
      await updateOrganization(world.services, slug, { features: { webhook_filtering: true } });
    }
  });
  after(() => world.close());

  const deliver = async ({ path }: { path: string }, count: number) => {
    const answers = await Promise.all(Array.from({ length: count }, () => post(world.url + path, "{}")));
    return answers.map(({ body }) => body.id as string).sort();
  };
  const statusOf = async (id: string) => (await findDelivery(world, id))?.status;
  /** Evaluations end one by one. */
  const openWorker = (ms: number) => {
    const running: { end: () => void; fail: (error: Error) => void }[] = [];
    const started: string[] = [];
    const evaluation: Evaluation = { outcome: { verdict: true }, ms, isLate: false };
    const lanes = openFilterLanes(() => ({
      evaluateFirst: ([input]) => {
        started.push(input?.id ?? "");
        return new Promise((resolve, fail) => running.push({ end: () => resolve([evaluation]), fail }));
      },
      async close() {
        for (const { fail } of running) fail(new Error("closed"));
      },
    }));
    const builder = openDeliveryBuilder(world.services, lanes);
    const endNext = async () => {
      await eventually("an evaluation", async () => running.length > 0);
      running.shift()?.end();
    };
    return { builder, running, started, endNext };
  };
  const filtered = (index: number) => (organizations[index] as TestOrganization).trigger({ filter: "true" });

  it("go round the organizations, while unfiltered ones are decided at once", async () => {
    const [slow, other] = [await deliver(await filtered(0), 4), await deliver(await filtered(1), 1)];
    const unfiltered = await deliver(await (organizations[1] as TestOrganization).trigger(), 1);
    const { builder, started, running, endNext } = openWorker(1000);

    await Promise.all([...slow, ...unfiltered].map((id) => builder.add(id)));
    await eventually("the first evaluation", async () => running.length > 0);
    assert.equal(await statusOf(unfiltered[0] as string), "build_created");
    await Promise.all(other.map((id) => builder.add(id)));
    await eventually("the other organization's", async () => started.length === 2);
    assert.deepEqual(started, [slow[0], other[0]]);

    for (let ended = 0; ended < 5; ended++) await endNext();
    await builder.idle();
    assert.deepEqual(started.toSorted(), [...slow, ...other].sort());
    for (const id of [...slow, ...other]) assert.equal(await statusOf(id), "build_created");
    await builder.close();
  });

  it("are not requeued while a worker has them, nor taken by another one", async () => {
    const ids = await deliver(await filtered(0), 3);
    world.clock.advance(5_000);
    const { builder, running, endNext } = openWorker(1);
    await Promise.all(ids.map((id) => builder.add(id)));
    await eventually("the lease", async () => {
      const delivery = await findDelivery(world, ids[2] as string);
      return (delivery?.enqueuedAt ?? new Date(0)) > world.clock.now();
    });

    world.clock.advance(9_000);
    assert.deepEqual(await requeuedOf(world, ids), []);
    const second = openWorker(1);
    await Promise.all(ids.map((id) => second.builder.add(id)));
    await second.builder.idle();
    assert.equal(second.running.length, 0);

    assert.equal(running.length, 1);
    for (let ended = 0; ended < 3; ended++) await endNext();
    await builder.idle();
    for (const id of ids) assert.equal(await statusOf(id), "build_created");
  });

  it("are requeued at once after their worker closed, and soon after it was killed", async () => {
    const [closed, killed] = [await deliver(await filtered(0), 2), await deliver(await filtered(1), 2)];
    world.clock.advance(5_000);
    const [first, second] = [openWorker(1), openWorker(1)];
    await Promise.all(closed.map((id) => first.builder.add(id)));
    await eventually("an evaluation", async () => first.running.length > 0);

    await first.builder.close();
    assert.deepEqual(await requeuedOf(world, closed), closed);

    world.clock.advance(6_000);
    assert.deepEqual(await requeuedOf(world, killed), killed);
    for (const id of [...closed, ...killed]) void second.builder.add(id);
    for (let ended = 0; ended < 4; ended++) await second.endNext();
    await second.builder.idle();
    for (const id of [...closed, ...killed]) assert.equal(await statusOf(id), "build_created");
  });
});
