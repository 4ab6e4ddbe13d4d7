import type { BuildRequest } from "../../builds/making/builds.ts";
import type { BuildOptions, BuildPullRequest } from "../../db/schema/builds.ts";
import type { WantedBuild } from "../../sources/decide.ts";
import type { PullRequest } from "../../sources/happened.ts";

/** The facts of an event, as its build keeps them. */
export function factsOf(build: WantedBuild): Pick<BuildRequest, "message" | "commit" | "branch"> & {
  author: BuildRequest["author"];
  options: BuildOptions;
} {
  const { message, commit, branch, author, tag, pullRequest, label, mergeGroup, url, isFork } = build;
  return {
    message,
    commit,
    branch,
    author,
    options: {
      ...(pullRequest && { pull_request: describeRequest(pullRequest, label ?? null) }),
      ...(mergeGroup && {
        merge_queue: { base_branch: mergeGroup.baseBranch, base_commit: mergeGroup.baseCommit },
      }),
      ...(tag !== undefined && { tag }),
      ...(url !== null && { url }),
      ...(isFork && { is_fork: true }),
    },
  };
}

function describeRequest(request: PullRequest, label: string | null): BuildPullRequest {
  const { number, title, url, author, baseBranch, repository, labels, isDraft, isFork, refspec } = request;
  return {
    id: String(number),
    title,
    base_branch: baseBranch,
    draft: isDraft,
    is_fork: isFork,
    ...(url !== null && { url }),
    ...(author && { author }),
    ...(repository !== null && { repository }),
    ...(labels.length > 0 && { labels }),
    ...(label !== null && { label }),
    ...(refspec !== null && { refspec }),
  };
}
