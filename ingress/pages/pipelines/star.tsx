import { pathTo, patterns } from "../../../shared/paths.ts";
import { starPipeline, unstarPipeline } from "../../../shared/pipelines/stars/stars.ts";
import type { ListedPipeline } from "../../../shared/pipelines/store.ts";
import { loadPipeline, pipelinePath } from "../address/pipeline.ts";
import { CsrfField } from "../ui/form.tsx";
import { type MemberRequest, memberAction } from "../ui/member-page.ts";

/** The page of the button, if it is a list. */
interface From {
  from?: "home" | "pipelines";
  /** The filter of home. */
  filter?: string;
}

/** POST …/star {is_starred, from, filter}: leads back to the page of its button. */
export const starForm = memberAction(async (services, request, form) => {
  const pipeline = await loadPipeline(services, request);
  const change = form.get("is_starred") === "false" ? unstarPipeline : starPipeline;
  await change(services, request.actor, pipeline);
  return pathBack(request, form);
});

function pathBack(request: MemberRequest, form: URLSearchParams): string {
  const org = request.organization.slug;
  const name = form.get("filter");
  switch (form.get("from")) {
    case "home":
      return `${pathTo(patterns.organizationPage, { org })}${name ? `?${new URLSearchParams({ name })}` : ""}`;
    case "pipelines":
      return pathTo(patterns.pipelinesPage, { org });
    default:
      return pipelinePath(request);
  }
}

/** Stars a pipeline for its reader, or removes the star. */
export function StarButton({
  pipeline: { slug, name },
  org,
  isStarred,
  from,
  filter,
}: { pipeline: Pick<ListedPipeline, "slug" | "name">; org: string; isStarred: boolean } & From) {
  const label = `${isStarred ? "Unstar" : "Star"} pipeline ${name}`;
  return (
    <form method="post" action={pathTo(patterns.starPipelinePage, { org, slug })} class="star">
      <CsrfField />
      <input type="hidden" name="is_starred" value={String(!isStarred)} />
      {from && <input type="hidden" name="from" value={from} />}
      {filter && <input type="hidden" name="filter" value={filter} />}
      <button type="submit" aria-label={label} title={label}>
        <svg class={isStarred ? "starred" : undefined} viewBox="0 0 16 16" aria-hidden="true">
          <path d="M8 1.5l2 4.2 4.6.6-3.4 3.2.9 4.6L8 11.9l-4.1 2.2.9-4.6L1.4 6.3 6 5.7z" />
        </svg>
      </button>
    </form>
  );
}
