import { type PatternWith, pathTo, patterns } from "../../../shared/paths.ts";
import type { Pipeline } from "../../../shared/pipelines/store.ts";
import type { Services } from "../../../shared/runtime/services.ts";
import type { Delivery } from "../../../shared/triggers/deliveries/store.ts";
import type { Trigger } from "../../../shared/triggers/store.ts";
import { requireDelivery, requireTrigger } from "../../../shared/triggers/triggers.ts";
import { pipelineOf } from "../pipelines/show.tsx";
import type { MemberRequest } from "../ui/member-page.ts";

/** The trigger that a request is about, and its pipeline. */
export interface TriggerAt {
  pipeline: Pipeline;
  trigger: Trigger;
}

/** @throws Refusal 404 */
export async function triggerOf(services: Services, request: MemberRequest): Promise<TriggerAt> {
  const pipeline = await pipelineOf(services, request);
  return { pipeline, trigger: await requireTrigger(services.db, pipeline, request.parameter("trigger")) };
}

/** @throws Refusal 404 */
export async function deliveryOf(
  services: Services,
  request: MemberRequest,
): Promise<TriggerAt & { delivery: Delivery }> {
  const at = await triggerOf(services, request);
  return { ...at, delivery: await requireDelivery(services.db, at.trigger, request.parameter("delivery")) };
}

/** The trigger's page, or another one of its addresses. */
export function pathOfTrigger(
  { organization, parameter }: Pick<MemberRequest, "organization" | "parameter">,
  { id }: Pick<Trigger, "id">,
  pattern: PatternWith<"org" | "slug" | "trigger" | "delivery"> = patterns.triggerPage,
  delivery = "",
): string {
  return pathTo(pattern, { org: organization.slug, slug: parameter("slug"), trigger: id, delivery });
}

/** The triggers of the pipeline that a request is about, or another page of that pipeline. */
export function pathOfTriggers(
  { organization, parameter }: Pick<MemberRequest, "organization" | "parameter">,
  pattern: PatternWith<"org" | "slug"> = patterns.triggersPage,
): string {
  return pathTo(pattern, { org: organization.slug, slug: parameter("slug") });
}
