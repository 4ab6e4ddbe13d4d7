import { type BuildRequest, createBuilds } from "../builds/create.ts";
import type { Tx } from "../db/database.ts";
import { createGroupCommit, type GroupCommit } from "../db/group-commit.ts";
import type { Cipher } from "../secrets.ts";
import type { Services } from "../services.ts";
import { type Delivery, decideIfWaiting, listTriggersById, setOutcome, type Trigger } from "./store.ts";

/** Spec §2.6. */
const defaults = { branch: "main", commit: "HEAD", message: "Triggered build" };
const groupItems = 500;

/** Builds deliveries by their ids; an id resolves once its delivery is decided, now or before. */
export type DeliveryBuilder = GroupCommit<string, undefined>;

/** The builder of a worker process: what several jobs bring at the same time is built in one transaction. */
export function openDeliveryBuilder(services: Services): DeliveryBuilder {
  return createGroupCommit({
    commit: (ids) => buildDeliveries(services, ids),
    maxItems: groupItems,
    maxWeight: groupItems,
    weigh: () => 1,
  });
}

async function buildDeliveries(
  { db, clock, cipher, metrics, events }: Services,
  ids: string[],
): Promise<undefined[]> {
  const decided = await db.transaction((tx) => decideAndBuild(tx, ids, cipher, clock.now()));
  const { built, failed, changed } = decided;
  events.publish(changed);
  metrics.deliveriesJudged.inc({ status: "build_created" }, built);
  metrics.deliveriesJudged.inc({ status: "failed" }, failed);
  return ids.map(() => undefined);
}

async function decideAndBuild(tx: Tx, ids: string[], cipher: Cipher, now: Date) {
  const deliveries = await decideIfWaiting(tx, [...new Set(ids)], "build_created");
  if (deliveries.length === 0) return { built: 0, failed: 0, changed: [] };
  deliveries.sort((a, b) => (a.id < b.id ? -1 : 1)); // ids sort by age: builds are numbered as webhooks came

  const triggers = await listTriggersById(tx, [...new Set(deliveries.map((delivery) => delivery.triggerId))]);
  const planOf = new Map(triggers.map((trigger) => [trigger.id, planBuild(trigger, cipher)]));
  const requests = deliveries.map((delivery) => requestBuild(delivery, planOf));

  const { refused, changed } = await createBuilds(tx, requests, now);
  const failedIds = refused.flatMap((request) => request.deliveryId ?? []);
  if (failedIds.length > 0) {
    await setOutcome(tx, failedIds, { status: "failed", reason: "build_creation_failed" });
  }
  return { built: deliveries.length - failedIds.length, failed: failedIds.length, changed };
}

type Plan = Omit<BuildRequest, "deliveryId">;

/** What every build of this trigger is like: nothing in a payload changes it (spec §2.6). */
function planBuild(trigger: Trigger, cipher: Cipher): Plan {
  return {
    pipelineId: trigger.pipelineId,
    source: "webhook",
    message: trigger.buildMessage ?? defaults.message,
    commit: trigger.buildCommit ?? defaults.commit,
    branch: trigger.buildBranch ?? defaults.branch,
    environment:
      trigger.environmentSealed === null ? {} : JSON.parse(cipher.decrypt(trigger.environmentSealed)),
  };
}

function requestBuild(delivery: Delivery, planOf: Map<string, Plan>): BuildRequest {
  const plan = planOf.get(delivery.triggerId);
  if (!plan) throw new Error(`Delivery ${delivery.id} has no trigger.`);
  return { ...plan, deliveryId: delivery.id };
}
