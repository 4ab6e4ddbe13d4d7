import { pathTo, patterns } from "../../../shared/paths.ts";
import type { PipelineFacts } from "../../../shared/pipelines/store.ts";
import { hostOf } from "../../../shared/sources/providers.ts";
import { pipelinePath, repositoryPath } from "../address/pipeline.ts";
import { LinkButton } from "../ui/form.tsx";
import type { MemberRequest } from "../ui/member-page.ts";
import { narrowPage } from "../ui/narrow-page.tsx";
import type { PageContent } from "../ui/page.ts";

/** The page of a pipeline whose repository has no provider: the ways to one. */
export function privatePage(request: MemberRequest, { repository }: PipelineFacts): PageContent {
  const host = repository === null ? undefined : hostOf(repository);
  return narrowPage({
    title: "Source host",
    section: "pipelines",
    heading: repository === null ? "No repository" : "A host that is not known",
    content: (
      <>
        <p>
          {host === undefined
            ? "A push builds its commit once the pipeline has the address of its repository, by https or ssh. The address decides the source host: github.com, gitlab.com, or one of your own. Steps may skip the checkout."
            : `Signalbox does not know what kind of host ${host} is. Once the organization is connected to it, pushes make builds of their commits.`}
          {host !== undefined && request.role !== "admin" && " An admin of the organization can connect it."}
        </p>
        <p>
          A <a href={pipelinePath(request, patterns.triggersPage)}>trigger</a> takes webhooks of any sender
          instead. Its builds have the branch and commit that the trigger names.
        </p>
        <p class="actions">
          {host !== undefined && request.role === "admin" && (
            <LinkButton href={newConnectionPath(request, repository ?? "", host)} text={`Connect ${host}`} />
          )}
          <LinkButton
            kind={repository === null ? undefined : "secondary"}
            href={repositoryPath(request)}
            text={repository === null ? "Enter its address" : "Correct the repository"}
          />
        </p>
      </>
    ),
  });
}

/** The form has the address of the host, with the port of one that repositories are cloned from over HTTP. */
function newConnectionPath(request: MemberRequest, repository: string, host: string): string {
  const { organization } = request;
  const { origin } = (/^https?:/i.test(repository) && URL.parse(repository)) || { origin: `https://${host}` };
  const query = new URLSearchParams({ url: origin, pipeline: request.parameter("slug") });
  return `${pathTo(patterns.newConnectionPage, { org: organization.slug })}?${query}`;
}
