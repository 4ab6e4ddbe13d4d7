import assert from "node:assert/strict";
import { before, it } from "node:test";
import { inArray } from "drizzle-orm";
import { updateOrganization } from "../../../shared/accounts/organizations.ts";
import { openDueDeliveries } from "../../../shared/triggers/deliveries/due.ts";
import type { Evaluation } from "../../../shared/triggers/filter/evaluator.ts";
import { takenMs } from "../../../shared/triggers/filter/slice.ts";
import { findDelivery } from "../../helpers/builds.ts";
import { describeWorld } from "../../helpers/databases.ts";
import { eventually, post } from "../../helpers/http.ts";
import { setUpOrganization, type TestOrganization } from "../../helpers/organization.ts";
import { startWorld } from "../../helpers/world.ts";

describeWorld("deliveries that wait for their filter", startWorld, (world) => {
  const organizations: TestOrganization[] = [];

  before(async () => {
    for (const slug of ["a", "b"]) {
      organizations.push(await setUpOrganization(world, slug));
      await updateOrganization(world.services, slug, { features: { webhook_filtering: true } });
    }
  });

  const deliver = async ({ path }: { path: string }, count: number) => {
    const answers = await Promise.all(Array.from({ length: count }, () => post(world.url + path, "{}")));
    return answers.map(({ body }) => body.id as string).sort();
  };
  const statusOf = async (id: string) => (await findDelivery(world, id))?.status;
  /** Evaluations end one by one. */
  const openWorker = () => {
    const running: (() => void)[] = [];
    const started: string[] = [];
    const evaluation: Evaluation = { outcome: { verdict: true }, isLate: false };
    const worker = openDueDeliveries(world.services, ([input], signal) => {
      started.push(input?.id ?? "");
      return new Promise((resolve, reject) => {
        running.push(() => resolve([evaluation]));
        signal?.addEventListener("abort", () => reject(signal.reason));
      });
    });
    const endNext = async () => {
      await eventually("an evaluation", async () => running.length > 0);
      running.shift()?.();
    };
    return { worker, running, started, endNext };
  };
  const filtered = (index: number) => (organizations[index] as TestOrganization).trigger({ filter: "true" });

  it("go round the organizations, while unfiltered ones are decided at once", async () => {
    const [slow, other] = [await deliver(await filtered(0), 4), await deliver(await filtered(1), 1)];
    const unfiltered = await deliver(await (organizations[1] as TestOrganization).trigger(), 1);
    const { worker, started, endNext } = openWorker();

    worker.wake();
    await eventually("the unfiltered build", async () => statusOf(unfiltered[0] as string));
    await endNext();
    await endNext();
    await eventually("a third evaluation", async () => started.length > 2);
    assert.ok(started.slice(0, 3).includes(other[0] as string), started.join(", "));
    for (let ended = 2; ended < 5; ended++) await endNext();
    await worker.idle();
    assert.deepEqual(started.toSorted(), [...slow, ...other].sort());
    for (const id of [...slow, ...other]) assert.equal(await statusOf(id), "build_created");
    await worker.close();
  });

  it("are left alone by other workers while one has taken them", async () => {
    const ids = await deliver(await filtered(0), 3);
    const [first, second] = [openWorker(), openWorker()];
    first.worker.wake();
    await eventually("an evaluation", async () => first.running.length > 0);

    world.clock.advance(20_000);
    second.worker.wake();
    await second.worker.idle();
    assert.deepEqual(second.started, []);

    for (let ended = 0; ended < 3; ended++) await first.endNext();
    await first.worker.idle();
    for (const id of ids) assert.equal(await statusOf(id), "build_created");
    for (const { worker } of [first, second]) await worker.close();
  });

  it("are taken over at once after their worker closed, and in half a minute after it was killed", async () => {
    const [closed, killed] = [await deliver(await filtered(0), 2), await deliver(await filtered(1), 2)];
    const [first, second] = [openWorker(), openWorker()];
    first.worker.wake();
    await eventually("both evaluations", async () => first.running.length > 1);
    const dueAt = async (id = "") =>
      ((await findDelivery(world, id))?.dueAt ?? new Date()) <= world.clock.now();

    assert.equal(await dueAt(closed[1]), false);
    await first.worker.close();
    assert.equal(await dueAt(closed[1]), true);
    const { db } = world.services;
    const { deliveries } = db.tables;
    await db.transaction(async (tx) => {
      const until = new Date(world.clock.now().getTime() + takenMs);
      await tx.update(deliveries).set({ dueAt: until }).where(inArray(deliveries.id, killed));
    });

    second.worker.wake();
    for (let ended = 0; ended < 2; ended++) await second.endNext();
    await second.worker.idle();
    for (const id of closed) assert.equal(await statusOf(id), "build_created");
    for (const id of killed) assert.equal(await statusOf(id), null);
    world.clock.advance(takenMs);
    second.worker.wake();
    for (let ended = 0; ended < 2; ended++) await second.endNext();
    await second.worker.idle();
    for (const id of killed) assert.equal(await statusOf(id), "build_created");
    await second.worker.close();
  });
});
