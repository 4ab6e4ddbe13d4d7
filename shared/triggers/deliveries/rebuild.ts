import { type Actor, audit } from "../../accounts/audit.ts";
import { requireStorage } from "../../accounts/storage.ts";
import { createOneBuild, lockNextRebuild } from "../../builds/making/rebuild.ts";
import { auditSubject } from "../../builds/reading/require.ts";
import { type Build, findBuildOfDelivery } from "../../builds/rows/build-store.ts";
import type { Tx } from "../../db/database.ts";
import type { PipelineFacts } from "../../pipelines/store.ts";
import { notFound, Refusal } from "../../refusal.ts";
import type { Services } from "../../services/services.ts";
import { writes } from "../../sharing/resources.ts";
import { planBuild } from "../members.ts";
import { hasPayload } from "../payloads/store.ts";
import { listTriggersById, type Trigger } from "../store.ts";
import { type Delivery, lockDelivery } from "./store.ts";

/**
 * Builds a delivery again with the trigger's present members, without its filter.
 * @param expected number: a form sent twice returns the existing rebuild
 * @throws Refusal 404, 422
 */
export async function rebuildDelivery(
  services: Services,
  actor: Actor,
  { pipeline, trigger, delivery }: { pipeline: PipelineFacts; trigger: Trigger; delivery: Delivery },
  expected?: number,
): Promise<Build> {
  const { config, db, events } = services;
  const make = async (tx: Tx) => {
    const present = await lockDelivery(tx, trigger.id, delivery.id);
    const [plan] = (await listTriggersById(tx, [trigger.id])).map(planBuild);
    if (!present || !plan) throw notFound("delivery");
    if (present.status === null) throw new Refusal(422, "The delivery is still being processed");
    if (!(await hasPayload(tx, delivery.id)))
      throw new Refusal(422, "The payload of this delivery is no longer kept");

    const next = await lockNextRebuild(tx, { pipelineId: trigger.pipelineId, deliveryId: delivery.id });
    const wasBuilt = expected !== undefined && Number.isInteger(expected) && expected < next;
    const same = wasBuilt ? await findBuildOfDelivery(tx, delivery.id, expected) : undefined;
    if (same) return { build: same, changed: [] };
    await requireStorage(tx, config, pipeline.organizationId);
    const request = {
      ...plan,
      deliveryId: delivery.id,
      rebuild: next,
      creatorId: actor.userId,
    };
    const created = await createOneBuild(tx, services, request);
    await audit(tx, actor, "created", auditSubject(created.build, pipeline));
    return created;
  };
  const { build, changed } = await writes.take(pipeline.organizationId, () => db.transaction(make));
  events.publish([...changed, `trigger:${trigger.id}`]);
  return build;
}
