import { type Build, findBuild } from "../../../shared/builds/rows/build-store.ts";
import { isOfFork } from "../../../shared/builds/rows/facts.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import type { Pipeline } from "../../../shared/pipelines/store.ts";
import { excerpt } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import { loadCause, pipelinePath } from "../address/pipeline.ts";
import { PostButton } from "../ui/form.tsx";
import type { MemberRequest } from "../ui/member-page.ts";

const maxBranch = 40;

interface NextBuild {
  branch: string;
  /** The build for whose sake the steps were edited, if it can be rebuilt. */
  cause: number | undefined;
}

/**
 * The address of a pipeline's page after a form gave it steps: the page offers to build them, also after its notice has
 * gone.
 * @param cause the build for whose sake they were edited
 */
export function withNextBuild(address: string, cause?: Pick<Build, "number">): string {
  return `${address}&build=${cause?.number ?? "next"}`;
}

/** The build that new steps are for. Undefined: the page does not follow a form that gave some. */
export async function loadNextBuild(
  services: Services,
  request: MemberRequest,
  pipeline: Pipeline,
): Promise<NextBuild | undefined> {
  const isAsked = request.event.url.searchParams.has("build");
  if (!isAsked || pipeline.archivedAt || pipeline.steps.length === 0) return undefined;
  const cause = await loadCause(services, request, pipeline);
  const last = cause ?? (await findBuild(services.db, pipeline.id, pipeline.lastBuildNumber));
  return {
    branch: last && isOfBranch(last) ? last.branch : pipeline.defaultBranch,
    cause: pipeline.allowRebuilds ? cause?.number : undefined,
  };
}

/** The repository has its branch. */
function isOfBranch(build: Build): boolean {
  return build.options?.tag === undefined && !isOfFork(build);
}

/** Buttons that build by the new steps. */
export function BuildNext({
  next: { branch, cause },
  pipeline,
  request,
}: {
  next: NextBuild;
  pipeline: Pipeline;
  request: MemberRequest;
}) {
  const org = request.organization.slug;
  return (
    <div class="actions">
      {cause !== undefined && (
        <PostButton
          path={pathTo(patterns.rebuildBuildPage, { org, slug: pipeline.slug, number: String(cause) })}
        >
          Rebuild #{cause}
        </PostButton>
      )}
      <PostButton
        path={pipelinePath(request, patterns.newBuildPage)}
        fields={{ branch, commit: "HEAD" }}
        {...(cause !== undefined && { class: "secondary" })}
      >
        New build of {excerpt(branch, maxBranch)}
      </PostButton>
    </div>
  );
}
