import { type Actor, audit } from "../../accounts/audit.ts";
import { requireStorage } from "../../accounts/storage.ts";
import type { BuildRequest } from "../../builds/making/builds.ts";
import { createAllBuilds, lockNextRebuild } from "../../builds/making/rebuild.ts";
import { auditSubject } from "../../builds/reading/require.ts";
import { type Build, findBuildOfDelivery } from "../../builds/rows/build-store.ts";
import type { Tx } from "../../db/database.ts";
import type { PipelineFacts } from "../../pipelines/store.ts";
import { notFound, Refusal } from "../../refusal.ts";
import type { Services } from "../../services/services.ts";
import { writes } from "../../sharing/resources.ts";
import { planBuild } from "../columns.ts";
import { type HostReport, planEvents } from "../events/plan.ts";
import { readDelivery } from "../events/read.ts";
import { hasPayload } from "../payloads/store.ts";
import { reasonWords } from "../reasons.ts";
import { listTriggersById, type Trigger } from "../store.ts";
import { type Delivery, lockDelivery } from "./store.ts";

/**
 * Builds a delivery again with the trigger's present members, without its filter. That of a provider is read anew: each of
 * its changes is built that the provider's settings allow.
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
  const { organizationId } = pipeline;
  const reading = trigger.isProvider
    ? await readDelivery(services, { organizationId, trigger, delivery })
    : undefined;
  const make = async (tx: Tx) => {
    const present = await lockDelivery(tx, trigger.id, delivery.id);
    const [owner] = await listTriggersById(tx, [trigger.id]);
    if (!present || !owner) throw notFound("delivery");
    if (present.status === null) throw new Refusal(422, "The delivery is still being processed");
    if (!(await hasPayload(tx, delivery.id)) || (owner.isProvider && !reading))
      throw new Refusal(422, "The payload of this delivery is no longer kept");

    const next = await lockNextRebuild(tx, { pipelineId: trigger.pipelineId, deliveryId: delivery.id });
    const wasBuilt = expected !== undefined && Number.isInteger(expected) && expected < next;
    const same = wasBuilt ? await findBuildOfDelivery(tx, delivery.id, expected) : undefined;
    if (same) return { build: same, changed: [] };
    await requireStorage(tx, config, organizationId);
    const plans = reading
      ? await requireRequests(tx, services, { deliveryId: delivery.id, trigger: owner, reading })
      : [{ ...planBuild(owner), deliveryId: delivery.id }];
    const requests = plans.map((plan) => ({ ...plan, rebuild: next, creatorId: actor.userId }));
    const { builds, changed } = await createAllBuilds(tx, services, requests);
    const build = builds[0] as Build;
    await audit(tx, actor, "created", auditSubject(build, pipeline));
    return { build, changed };
  };
  const { build, changed } = await writes.take(organizationId, () => db.transaction(make));
  events.publish([...changed, `trigger:${trigger.id}`]);
  return build;
}

/** @throws Refusal 422 if the event makes no build */
async function requireRequests(tx: Tx, services: Services, report: HostReport): Promise<BuildRequest[]> {
  const { deliveryId, trigger, reading } = report;
  if ("problem" in reading) throw new Refusal(422, `The event was not understood: ${reading.problem}`);
  const { plans } = await planEvents(tx, services, [report], {
    pipelineIds: [trigger.pipelineId],
    isAsked: true,
  });
  const { requests = [], outcome } = plans.get(deliveryId) ?? {};
  if (outcome) throw new Refusal(422, `The delivery makes no build: ${reasonWords[outcome.reason]}`);
  return requests;
}
