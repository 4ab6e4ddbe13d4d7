import { type PatternWith, pathTo, patterns } from "../../../shared/paths.ts";
import type { PipelineFacts } from "../../../shared/pipelines/store.ts";
import type { Services } from "../../../shared/services/services.ts";
import type { Trigger } from "../../../shared/triggers/store.ts";
import { requireTrigger } from "../../../shared/triggers/triggers.ts";
import type { MemberRequest } from "../ui/member-page.ts";
import { addCrumbs } from "../ui/page-context.ts";
import { loadPipeline, pipelinePath } from "./pipeline.ts";

export interface LoadedTrigger {
  pipeline: PipelineFacts;
  trigger: Trigger;
}

/** @throws Refusal 404 */
export async function loadTrigger(services: Services, request: MemberRequest): Promise<LoadedTrigger> {
  const pipeline = await loadPipelineOfTriggers(services, request);
  const trigger = await requireTrigger(services.db, pipeline, request.parameter("trigger"));
  addCrumbs(request.event, { text: trigger.label, path: triggerPath(request, trigger) });
  return { pipeline, trigger };
}

/** For the list, and for new triggers. @throws Refusal 404 */
export async function loadPipelineOfTriggers(
  services: Services,
  request: MemberRequest,
): Promise<PipelineFacts> {
  const pipeline = await loadPipeline(services, request);
  const path = pipelinePath(request, patterns.triggersPage);
  addCrumbs(request.event, { text: "Triggers", path, isList: true });
  return pipeline;
}

/** The trigger's page, or one below it. */
export function triggerPath(
  { organization, parameter }: Pick<MemberRequest, "organization" | "parameter">,
  { id }: Pick<Trigger, "id">,
  pattern: PatternWith<"org" | "slug" | "trigger"> = patterns.triggerPage,
): string {
  return pathTo(pattern, { org: organization.slug, slug: parameter("slug"), trigger: id });
}
