import { requireArtifact } from "../../../shared/artifacts/artifacts.ts";
import type { Artifact } from "../../../shared/artifacts/store.ts";
import type { Build } from "../../../shared/builds/rows/build-store.ts";
import { type PatternWith, pathTo, patterns } from "../../../shared/paths.ts";
import type { PipelineFacts } from "../../../shared/pipelines/store.ts";
import type { Services } from "../../../shared/services/services.ts";
import { buildPath, loadBuild } from "../address/build.ts";
import type { MemberRequest } from "../ui/member-page.ts";
import { addCrumbs } from "../ui/page-context.ts";

/** The artifact's page, or one below it. */
export function artifactPath(
  { organization, parameter }: Pick<MemberRequest, "organization" | "parameter">,
  artifact: string,
  pattern: PatternWith<"org" | "slug" | "number" | "artifact"> = patterns.artifactPage,
): string {
  const build = { org: organization.slug, slug: parameter("slug"), number: parameter("number") };
  return pathTo(pattern, { ...build, artifact });
}

/** The last part of a path with / or \. */
export function nameOf({ path }: Pick<Artifact, "path">): string {
  return path.split(/[\\/]/).findLast((part) => part !== "") ?? path;
}

/** @throws Refusal 404 */
export async function loadArtifact(
  services: Services,
  request: MemberRequest,
): Promise<{ artifact: Artifact; build: Build; pipeline: PipelineFacts }> {
  const { build, pipeline } = await loadBuild(services, request);
  const place = { buildId: build.id, jobId: undefined };
  const artifact = await requireArtifact(services.db, place, request.parameter("artifact"));
  addCrumbs(request.event, {
    text: "Artifacts",
    path: buildPath(request, patterns.artifactsPage),
    isList: true,
  });
  return { artifact, build, pipeline };
}
