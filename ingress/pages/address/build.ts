import { requireBuild } from "../../../shared/builds/reading/require.ts";
import type { Build } from "../../../shared/builds/rows/build-store.ts";
import { type PatternWith, pathTo, patterns } from "../../../shared/paths.ts";
import type { PipelineFacts } from "../../../shared/pipelines/store.ts";
import type { Services } from "../../../shared/services/services.ts";
import { parseBuildNumber } from "../../http/routing.ts";
import type { MemberRequest } from "../ui/member-page.ts";
import { addCrumbs } from "../ui/page-context.ts";
import { loadPipeline } from "./pipeline.ts";

/** @throws Refusal 404 */
export async function loadBuild(
  services: Services,
  request: MemberRequest,
): Promise<{ build: Build; pipeline: PipelineFacts }> {
  const pipeline = await loadPipeline(services, request);
  const number = parseBuildNumber(request.parameter("number"));
  const build = await requireBuild(services.db, pipeline, number);
  addCrumbs(request.event, { text: `Build #${build.number}`, path: buildPath(request) });
  return { build, pipeline };
}

/** The build's page, or one below it. */
export function buildPath(
  { organization, parameter }: Pick<MemberRequest, "organization" | "parameter">,
  pattern: PatternWith<"org" | "slug" | "number"> = patterns.buildPage,
): string {
  const parameters = { org: organization.slug, slug: parameter("slug"), number: parameter("number") };
  return pathTo(pattern, parameters);
}

/** The job's page, or one below it. */
export function jobPath(
  { organization, parameter }: Pick<MemberRequest, "organization" | "parameter">,
  job: string,
  pattern: PatternWith<"org" | "slug" | "number" | "job"> = patterns.jobPage,
): string {
  const parameters = { org: organization.slug, slug: parameter("slug"), number: parameter("number") };
  return pathTo(pattern, { ...parameters, job });
}
