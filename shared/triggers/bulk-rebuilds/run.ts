import { lockActiveRoles } from "../../accounts/member-store.ts";
import { isStorageFull } from "../../accounts/storage.ts";
import { createBuilds } from "../../builds/making/builds.ts";
import { nextRebuild } from "../../builds/making/rebuild.ts";
import { TooManyJobs } from "../../builds/making/too-many-jobs.ts";
import { listLastRebuilds } from "../../builds/rows/build-store.ts";
import type { Tx } from "../../db/database.ts";
import { secondMs } from "../../durations.ts";
import { lockPipeline } from "../../pipelines/store.ts";
import type { Topic } from "../../redis/events.ts";
import type { Services } from "../../services/services.ts";
import { endTasks, listTasks, repeatTask } from "../../tasks/store.ts";
import { planBuild } from "../columns.ts";
import { listDeliveryIdsAfter, lockDeliveries } from "../deliveries/store.ts";
import { listKeptPayloads } from "../payloads/store.ts";
import { listTriggersById, type Trigger } from "../store.ts";
import { filterOf } from "./ask.ts";
import { type BulkRebuild, cancelIfRunning, lockIfRunning, setProgress } from "./store.ts";

/** A transaction locks the pipeline. */
export const deliveriesPerTransaction = 20;
/** It rests while storage is full. */
const restMs = 15 * secondMs;

/**
 * Builds the next deliveries of a bulk rebuild.
 * @param limit fewer of them, if the builds of the last slice had too many jobs for one transaction
 * @returns the limit of the next slice; undefined once it is over, or rests
 */
export async function rebuildNext(
  services: Services,
  id: string,
  limit: number = deliveriesPerTransaction,
): Promise<number | undefined> {
  const { db, events } = services;
  try {
    const { isOver, changed } = await db.transaction((tx) => rebuildBatch(tx, services, id, limit));
    events.publish(changed);
    return isOver ? undefined : limit;
  } catch (error) {
    if (!(error instanceof TooManyJobs)) throw error;
    return error.excesses[0]?.parts[0]?.length ?? 1;
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
  const due = await listTasks(tx, "bulk_rebuild", id);
  const isResting = bulk && (await isStorageFull(tx, services.config, bulk.organizationId));
  if (!bulk) await endTasks(tx, due);
  if (isResting) await repeatTask(tx, due, new Date(tx.now.getTime() + restMs));
  if (!bulk || isResting) return { isOver: true, changed: [] };
  const { triggerId, position, lastDeliveryId } = bulk;
  const [trigger] = await listTriggersById(tx, [triggerId]);
  const range = { after: position, last: lastDeliveryId, limit };
  const ids = await listDeliveryIdsAfter(tx, triggerId, filterOf(bulk.filter), range);
  // Deliveries before the pipeline, as everywhere: another order would deadlock.
  const buildable = await lockBuildable(tx, ids);
  if (!trigger || !(await mayGoOn(tx, bulk, trigger))) {
    await cancelIfRunning(tx, id, tx.now);
    await endTasks(tx, due);
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
  if (isOver) await endTasks(tx, due);
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
