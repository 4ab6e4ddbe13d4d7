import type { ComponentChildren } from "preact";
import type { Build } from "../../../shared/builds/rows/build-store.ts";
import { isOfFork } from "../../../shared/builds/rows/facts.ts";
import type { BuildPullRequest } from "../../../shared/db/schema/builds.ts";
import { Fact } from "../ui/tables.tsx";

/** The pull request, tag and merge queue of a build, as its host or its creator told them. */
export function HostFacts({
  build: { author, options },
  pullRequest,
  tag,
}: {
  build: Pick<Build, "author" | "options">;
  pullRequest: BuildPullRequest | undefined;
  tag: string | undefined;
}) {
  const { merge_queue, url } = options ?? {};
  const page = url === pullRequest?.url ? undefined : pageOf(url);
  return (
    <>
      <Fact
        name="Pull request"
        value={pullRequest && <PullRequest pullRequest={pullRequest} />}
        class="wide"
      />
      <Fact name="Tag" value={tag} />
      <Fact name="Merge queue" value={merge_queue && `into ${merge_queue.base_branch}`} />
      <Fact name="Author" value={author?.name ?? author?.username ?? author?.email} />
      <Fact name="Change" value={page && <HostLink url={url}>{page.hostname}</HostLink>} />
    </>
  );
}

/** `#42 from ada: Make it faster, into main`. */
function PullRequest({ pullRequest }: { pullRequest: BuildPullRequest }) {
  const { title, base_branch, draft } = pullRequest;
  return (
    <>
      {draft && "Draft "}
      <RequestName pullRequest={pullRequest} />
      {title && `: ${title}`}
      {base_branch && `, into ${base_branch}`}
    </>
  );
}

/** `#42 from ada`, with a link to its page. */
export function RequestName({ pullRequest: { id, author, url } }: { pullRequest: BuildPullRequest }) {
  const from = author?.username ?? author?.name;
  return (
    <>
      <HostLink url={url}>#{id}</HostLink>
      {from && ` from ${from}`}
    </>
  );
}

/** A link to a page of a source host, as far as it is safe. */
function HostLink({ url, children }: { url: string | undefined; children: ComponentChildren }) {
  const page = pageOf(url);
  if (!page) return <>{children}</>;
  return (
    <a href={page.href} rel="noreferrer">
      {children}
    </a>
  );
}

/** Undefined for an address that is not of https. */
function pageOf(url: string | undefined): URL | undefined {
  const page = url === undefined ? null : URL.parse(url);
  return page?.protocol === "https:" ? page : undefined;
}

export function ForkNote({ build }: { build: Pick<Build, "options"> }) {
  if (!isOfFork(build)) return null;
  return (
    <p class="warning" id="fork">
      This build comes from a fork: its jobs get no secrets and no identity tokens, and upload steps only to
      queues that the pipeline’s steps name.
    </p>
  );
}
