import { slugProblems } from "../../../shared/accounts/organizations.ts";
import { type Build, findBuild } from "../../../shared/builds/rows/build-store.ts";
import { type PatternWith, pathTo, patterns } from "../../../shared/paths.ts";
import { requirePipeline, requirePipelineFacts } from "../../../shared/pipelines/pipelines.ts";
import type { Pipeline, PipelineFacts } from "../../../shared/pipelines/store.ts";
import { notFound } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import type { MemberRequest } from "../ui/member-page.ts";
import { addCrumbs } from "../ui/page-context.ts";

/** Without its steps. @throws Refusal 404 */
export function loadPipeline(services: Services, request: MemberRequest): Promise<PipelineFacts> {
  return load(services, request, requirePipelineFacts);
}

/** @throws Refusal 404 */
export function loadPipelineWithSteps(services: Services, request: MemberRequest): Promise<Pipeline> {
  return load(services, request, requirePipeline);
}

async function load<Found extends PipelineFacts>(
  { db }: Services,
  { organization, parameter, event }: MemberRequest,
  require: (db: Services["db"], organizationId: string, slug: string) => Promise<Found>,
): Promise<Found> {
  const slug = parameter("slug");
  const org = organization.slug;
  addCrumbs(event, { text: "Pipelines", path: pathTo(patterns.pipelinesPage, { org }), isList: true });
  if (slugProblems(slug).length > 0) throw notFound("pipeline");
  const pipeline = await require(db, organization.id, slug);
  addCrumbs(event, { text: pipeline.name, path: pathTo(patterns.pipelinePage, { org, slug }) });
  return pipeline;
}

/** The field Repository in the form of a pipeline, which gets the focus. */
export function repositoryPath(request: Pick<MemberRequest, "organization" | "parameter">): string {
  return `${pipelinePath(request, patterns.editPipelinePage)}#field-repository`;
}

/** The field Branches in the form of a pipeline, which the address unfolds. */
export function branchesPath(request: Pick<MemberRequest, "organization" | "parameter">): string {
  return `${pipelinePath(request, patterns.editPipelinePage)}?unfold=others#field-branches`;
}

/** The build for whose sake the steps are edited. Undefined: the address names none that is there. */
export async function loadCause(
  { db }: Services,
  { event }: Pick<MemberRequest, "event">,
  { id }: Pick<Pipeline, "id">,
): Promise<Build | undefined> {
  const given = event.url.searchParams.get("build") ?? "";
  return /^[1-9]\d{0,8}$/.test(given) ? findBuild(db, id, Number(given)) : undefined;
}

/**
 * The steps in the pipeline's form.
 * @param cause the build for whose sake they are edited
 * @param failed its step that gets the focus, which a fragment in the address would prevent
 */
export function editStepsPath(
  request: Pick<MemberRequest, "organization" | "parameter">,
  cause: { number: number },
  failed?: { stepId: string },
): string {
  const place = failed ? `&step=${failed.stepId}` : "#steps";
  return `${pipelinePath(request, patterns.editPipelinePage)}?build=${cause.number}${place}`;
}

/** The pipeline's page, or one below it. */
export function pipelinePath(
  { organization, parameter }: Pick<MemberRequest, "organization" | "parameter">,
  pattern: PatternWith<"org" | "slug"> = patterns.pipelinePage,
): string {
  return pathTo(pattern, { org: organization.slug, slug: parameter("slug") });
}
