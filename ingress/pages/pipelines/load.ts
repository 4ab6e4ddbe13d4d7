import { slugProblems } from "../../../shared/accounts/organizations.ts";
import { type PatternWith, pathTo, patterns } from "../../../shared/paths.ts";
import { requirePipeline } from "../../../shared/pipelines/pipelines.ts";
import type { Pipeline } from "../../../shared/pipelines/store.ts";
import { notFound } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/runtime/services.ts";
import type { MemberRequest } from "../ui/member-page.ts";

/** @throws Refusal 404 */
export function loadPipeline(
  { db }: Services,
  { organization, parameter }: MemberRequest,
): Promise<Pipeline> {
  const slug = parameter("slug");
  if (slugProblems(slug).length > 0) throw notFound("pipeline");
  return requirePipeline(db, organization.id, slug);
}

/** The path of the request's pipeline, or of another page below it. */
export function pipelinePath(
  { organization, parameter }: Pick<MemberRequest, "organization" | "parameter">,
  pattern: PatternWith<"org" | "slug"> = patterns.pipelinePage,
): string {
  return pathTo(pattern, { org: organization.slug, slug: parameter("slug") });
}
