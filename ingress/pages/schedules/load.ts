import { type PatternWith, pathTo, patterns } from "../../../shared/paths.ts";
import type { PipelineFacts } from "../../../shared/pipelines/store.ts";
import { requireSchedule } from "../../../shared/schedules/schedules.ts";
import type { Schedule } from "../../../shared/schedules/store.ts";
import type { Services } from "../../../shared/services/services.ts";
import { loadPipeline, pipelinePath } from "../address/pipeline.ts";
import type { MemberRequest } from "../ui/member-page.ts";
import { addCrumbs } from "../ui/page-context.ts";

export interface LoadedSchedule {
  pipeline: PipelineFacts;
  schedule: Schedule;
}

/** The pipeline of schedules. @throws Refusal 404 */
export async function loadPipelineOfSchedules(
  services: Services,
  request: MemberRequest,
): Promise<PipelineFacts> {
  const pipeline = await loadPipeline(services, request);
  const path = pipelinePath(request, patterns.schedulesPage);
  addCrumbs(request.event, { text: "Schedules", path, isList: true });
  return pipeline;
}

/** @throws Refusal 404 */
export async function loadSchedule(services: Services, request: MemberRequest): Promise<LoadedSchedule> {
  const pipeline = await loadPipelineOfSchedules(services, request);
  const schedule = await requireSchedule(services.db, pipeline, request.parameter("schedule"));
  addCrumbs(request.event, { text: nameOf(schedule), path: schedulePath(request, schedule) });
  return { pipeline, schedule };
}

export function nameOf({ label, cronline }: Schedule): string {
  return label ?? cronline;
}

/** Default: the page of the schedule. */
export function schedulePath(
  { organization, parameter }: Pick<MemberRequest, "organization" | "parameter">,
  { id }: Schedule,
  pattern: PatternWith<"org" | "slug" | "schedule"> = patterns.schedulePage,
): string {
  return pathTo(pattern, { org: organization.slug, slug: parameter("slug"), schedule: id });
}
