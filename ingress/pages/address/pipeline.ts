import { slugProblems } from "../../../shared/accounts/organizations.ts";
import { type PatternWith, pathTo, patterns } from "../../../shared/paths.ts";
import { requirePipeline } from "../../../shared/pipelines/pipelines.ts";
import type { Pipeline } from "../../../shared/pipelines/store.ts";
import type { Services } from "../../../shared/process/services.ts";
import { notFound } from "../../../shared/refusal.ts";
import type { MemberRequest } from "../ui/member-page.ts";
import { addCrumbs } from "../ui/page-context.ts";

/** @throws Refusal 404 */
export async function loadPipeline(
  { db }: Services,
  { organization, parameter, event }: MemberRequest,
): Promise<Pipeline> {
  const slug = parameter("slug");
  const org = organization.slug;
  addCrumbs(event, { text: "Pipelines", path: pathTo(patterns.pipelinesPage, { org }), isList: true });
  if (slugProblems(slug).length > 0) throw notFound("pipeline");
  const pipeline = await requirePipeline(db, organization.id, slug);
  addCrumbs(event, { text: pipeline.name, path: pathTo(patterns.pipelinePage, { org, slug }) });
  return pipeline;
}

/** The pipeline's page, or one below it. */
export function pipelinePath(
  { organization, parameter }: Pick<MemberRequest, "organization" | "parameter">,
  pattern: PatternWith<"org" | "slug"> = patterns.pipelinePage,
): string {
  return pathTo(pattern, { org: organization.slug, slug: parameter("slug") });
}
