import assert from "node:assert/strict";
import { it } from "node:test";
import { updatePipeline } from "../../shared/pipelines/pipelines.ts";
import type { DueWork } from "../../shared/tasks/looks.ts";
import { openDueDeliveries } from "../../shared/triggers/deliveries/due.ts";
import { buildOfDelivery } from "../helpers/builds.ts";
import { describeWorld } from "../helpers/databases.ts";
import { post } from "../helpers/http.ts";
import { setUpOrganization } from "../helpers/organization.ts";
import { startWorld } from "../helpers/world.ts";

describeWorld("webhooks whose builds have too many jobs for one transaction", startWorld, (world) => {
  const send = async (path: string): Promise<string> => (await post(world.url + path, "{}")).body.id;
  const workBy = (transaction: typeof world.services.db.transaction) => {
    const { services } = world;
    return openDueDeliveries({ ...services, db: { ...services.db, transaction } });
  };
  /** Decides all deliveries, and finds the builds of some. */
  const buildsBy = async (worker: DueWork, ids: string[]) => {
    worker.wake();
    await worker.idle();
    await worker.close();
    return Promise.all(ids.map((id) => buildOfDelivery(world, id)));
  };

  it("leave the transaction to those of other organizations", async () => {
    const { services } = world;
    const [attacker, victim] = [
      await setUpOrganization(world, "attacker"),
      await setUpOrganization(world, "victim"),
    ];
    await updatePipeline(services, attacker.operator, attacker.pipeline, {
      steps: Array.from({ length: 4 }, () => ({ command: "true", parallelism: 90 })),
    });
    const [many, small] = [await attacker.trigger(), await victim.trigger()];
    const ids: string[] = [];
    for (const { path } of [many, many, many, many, many, many, small]) ids.push(await send(path));
    let inVain = 0;
    const transaction: typeof services.db.transaction = (work) =>
      services.db.transaction(work).catch((error) => {
        inVain++;
        throw error;
      });

    const builds = await buildsBy(workBy(transaction), ids);

    assert.deepEqual(
      builds.slice(0, 6).map((build) => build?.number),
      [1, 2, 3, 4, 5, 6],
    );
    assert.ok((builds.at(-1)?.id ?? "z") < (builds[0]?.id ?? ""), "the other organization's is first");
    assert.equal(inVain, 0);
  });

  it("wait no longer than for the large builds before them", async () => {
    const { services } = world;
    const organization = await setUpOrganization(world, "busy");
    await updatePipeline(services, organization.operator, organization.pipeline, {
      steps: Array.from({ length: 8 }, () => ({ command: "true", parallelism: 90 })),
    });
    const { path } = await organization.trigger();
    const ids = [await send(path)];
    const isPutOff = Promise.withResolvers<void>();
    let transactions = 0;
    const transaction: typeof services.db.transaction = async (work) => {
      const turn = ++transactions;
      if (turn === 2) {
        // The first is about to be built.
        ids.push(await send(path));
        worker.wake();
        await isPutOff.promise;
      }
      const result = await services.db.transaction(work);
      if (turn === 3) isPutOff.resolve();
      return result;
    };
    const worker = workBy(transaction);

    const builds = await buildsBy(worker, ids);

    assert.deepEqual(
      builds.map((build) => build?.number),
      [1, 2],
    );
  });
});
