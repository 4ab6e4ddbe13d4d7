import { lockActiveRoles } from "../../accounts/member-store.ts";
import { isStorageFull } from "../../accounts/storage.ts";
import { createBuilds } from "../../builds/create.ts";
import { nextRebuild } from "../../builds/rebuild.ts";
import { listLastRebuilds } from "../../builds/store.ts";
import { TooManyJobs } from "../../builds/too-many-jobs.ts";
import { restBetweenTransactions } from "../../db/batches.ts";
import type { Tx } from "../../db/database.ts";
import { rebuildDeliveriesJob } from "../../jobs/contracts.ts";
import { lockPipeline } from "../../pipelines/store.ts";
import type { Services } from "../../process/services.ts";
import type { Topic } from "../../redis/events.ts";
import { turns as turnBounds } from "../../sharing/bounds.ts";
import { openTasksByKey, type TasksByKey } from "../../sharing/tasks.ts";
import { openTurns } from "../../sharing/turns.ts";
import { listDeliveryIdsAfter, lockDeliveries } from "../deliveries/store.ts";
import { planBuild } from "../members.ts";
import { listKeptPayloads } from "../payloads/store.ts";
import { listTriggersById, type Trigger } from "../store.ts";
import { filterOf } from "./ask.ts";
import {
  type BulkRebuild,
  cancelIfRunning,
  findOwnerOfBulkRebuild,
  listRunningIds,
  lockIfRunning,
  setProgress,
} from "./store.ts";

export const { max: deliveriesPerTransaction } = turnBounds.bulkRebuilds.each;
const maxRequeued = 1000;

/**
 * Runs a bulk rebuild once at a time. Organizations take turns with transactions, and each rests as long as its
 * transaction took. `requeueBulkRebuilds` repeats a run that `close` aborts, or that ends while storage is full.
 */
export function openBulkRebuilds(services: Services): TasksByKey {
  const turns = openTurns(turnBounds.bulkRebuilds);
  return openTasksByKey(
    async (id, signal) => {
      const owner = await findOwnerOfBulkRebuild(services.db, id);
      if (owner === undefined) return;
      let limit: number = deliveriesPerTransaction;
      for (let isOver = false; !isOver; ) {
        ({ isOver, limit } = await turns.take(owner, () => rebuildNext(services, id, limit), signal));
        if (!isOver) await restBetweenTransactions();
      }
    },
    (id, error) =>
      services.log.warn({ err: error, bulkRebuildId: id }, "could not build again; will be requeued"),
  );
}

/** Builds the next deliveries: fewer of them if their builds have too many jobs for one transaction. */
async function rebuildNext(
  services: Services,
  id: string,
  limit: number,
): Promise<{ isOver: boolean; limit: number }> {
  const { db, events } = services;
  try {
    const { isOver, changed } = await db.transaction((tx) => rebuildBatch(tx, services, id, limit));
    events.publish(changed);
    return { isOver, limit };
  } catch (error) {
    if (!(error instanceof TooManyJobs)) throw error;
    return { isOver: false, limit: error.excesses[0]?.parts[0]?.length ?? 1 };
  }
}

/** The position moves with the builds, so that a delivery is never built twice. */
async function rebuildBatch(
  tx: Tx,
  services: Services,
  id: string,
  limit: number,
): Promise<{ isOver: boolean; changed: Topic[] }> {
  const bulk = await lockIfRunning(tx, id);
  if (!bulk || (await isStorageFull(tx, services.config, bulk.organizationId)))
    return { isOver: true, changed: [] };
  const { triggerId, position, lastDeliveryId } = bulk;
  const [trigger] = await listTriggersById(tx, [triggerId]);
  const range = { after: position, last: lastDeliveryId, limit };
  const ids = await listDeliveryIdsAfter(tx, triggerId, filterOf(bulk.filter), range);
  // Deliveries before the pipeline, as everywhere: another order would deadlock.
  const buildable = await lockBuildable(tx, ids);
  if (!trigger || !(await mayGoOn(tx, bulk, trigger))) {
    await cancelIfRunning(tx, id, tx.now);
    return { isOver: true, changed: [`trigger:${triggerId}`] };
  }
  const { built, failed, changed } = await buildAgain(tx, services, { bulk, trigger, ids: buildable });
  const isOver = ids.length < limit;
  await setProgress(tx, id, {
    position: ids.at(-1) ?? position,
    built: bulk.built + built,
    skipped: bulk.skipped + ids.length - buildable.length,
    failed: bulk.failed + failed,
    finishedAt: isOver ? tx.now : null,
  });
  return { isOver, changed: [...changed, `trigger:${triggerId}`] };
}

/** Locks deliveries. Returns those that are decided and have their payload. */
async function lockBuildable(tx: Tx, ids: string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const decided = (await lockDeliveries(tx, ids)).filter(({ status }) => status !== null);
  const kept = await listKeptPayloads(tx, ids);
  return decided.flatMap(({ id }) => (kept.has(id) ? id : [])).sort();
}

/** Locks the pipeline: rebuilds are numbered one at a time. */
async function mayGoOn(tx: Tx, bulk: BulkRebuild, trigger: Trigger): Promise<boolean> {
  if (trigger.deletedAt || !(await lockPipeline(tx, trigger.pipelineId))) return false;
  const [role] = await lockActiveRoles(tx, [
    { organizationId: bulk.organizationId, userId: bulk.createdById },
  ]);
  return role !== undefined;
}

/** Like `rebuildDelivery`, for several. */
async function buildAgain(
  tx: Tx,
  services: Services,
  { bulk: { createdById }, trigger, ids }: { bulk: BulkRebuild; trigger: Trigger; ids: string[] },
) {
  const plan = planBuild(trigger);
  const last = await listLastRebuilds(tx, ids);
  const requests = ids.map((deliveryId) => {
    const rebuild = nextRebuild(last.get(deliveryId));
    return { ...plan, deliveryId, rebuild, creatorId: createdById };
  });
  const { builds, refused, changed } = await createBuilds(tx, services, requests, tx.now);
  return { built: builds.length, failed: refused.length, changed };
}

/** Requeues bulk rebuilds whose worker may have died. */
export async function requeueBulkRebuilds({ db, jobs }: Services): Promise<void> {
  for (const bulkRebuildId of await listRunningIds(db, maxRequeued))
    await jobs.send(rebuildDeliveriesJob, { bulkRebuildId });
}
