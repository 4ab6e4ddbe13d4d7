import { type PatternWith, pathTo, patterns } from "../../../shared/paths.ts";
import type { Pipeline } from "../../../shared/pipelines/store.ts";
import type { Services } from "../../../shared/runtime/services.ts";
import type { Trigger } from "../../../shared/triggers/store.ts";
import { requireTrigger } from "../../../shared/triggers/triggers.ts";
import { loadPipeline } from "../pipelines/load.ts";
import type { MemberRequest } from "../ui/member-page.ts";

export interface LoadedTrigger {
  pipeline: Pipeline;
  trigger: Trigger;
}

/** @throws Refusal 404 */
export async function loadTrigger(services: Services, request: MemberRequest): Promise<LoadedTrigger> {
  const pipeline = await loadPipeline(services, request);
  return { pipeline, trigger: await requireTrigger(services.db, pipeline, request.parameter("trigger")) };
}

/** The path of a trigger of the request's pipeline, or of another page below it. */
export function triggerPath(
  { organization, parameter }: Pick<MemberRequest, "organization" | "parameter">,
  { id }: Pick<Trigger, "id">,
  pattern: PatternWith<"org" | "slug" | "trigger"> = patterns.triggerPage,
): string {
  return pathTo(pattern, { org: organization.slug, slug: parameter("slug"), trigger: id });
}
