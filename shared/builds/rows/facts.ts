import { normalizeEmail } from "../../accounts/user-store.ts";
import type { BuildPullRequest } from "../../db/schema/builds.ts";
import type { Environment } from "../../pipelines/environment.ts";
import type { Build } from "./build-store.ts";

// Facts of a build: its host reported them, or its creator gave them as members or variables.

type Options = Pick<Build, "options">;

/**
 * Strangers wrote what builds of forks run, and what comes of them: rebuilds, uploads, builds that they trigger. Their jobs
 * get no secrets, no identity tokens and no rights of people.
 */
export function isOfFork({ options }: Options): boolean {
  return options?.is_fork === true;
}

/** Says if the author of the commit has an address. Whoever writes the commit chooses it. @param email in lower case */
export function hasAuthor({ author }: Pick<Build, "author">, email: string): boolean {
  return author?.email !== undefined && normalizeEmail(author.email) === email;
}

export function tagOf({ options }: Options, given: Environment, prefix: string): string | undefined {
  return options?.tag ?? (given[`${prefix}_TAG`] || undefined);
}

/** @param given the variables of the build */
export function pullRequestOf(
  { options }: Options,
  given: Environment,
  prefix: string,
): BuildPullRequest | undefined {
  const read = (name: string) => given[`${prefix}_PULL_REQUEST${name}`] || undefined;
  const draft = read("_DRAFT") === "true";
  if (options?.pull_request) return { draft, ...options.pull_request };
  const id = read("");
  if (id === undefined || id === "false") return undefined;
  const [base_branch, repository, labels] = [read("_BASE_BRANCH"), read("_REPO"), read("_LABELS")];
  return {
    id,
    draft,
    ...(base_branch !== undefined && { base_branch }),
    ...(repository !== undefined && { repository }),
    ...(labels !== undefined && { labels: labels.split(",") }),
  };
}

/** The request and the merge queue that agents are told of. Another commit's would let them check out that commit. */
export function factsForAgents(build: Options, given: Environment, prefix: string) {
  if (build.options?.triggered_from?.of_other_commit) return {};
  return { pullRequest: pullRequestOf(build, given, prefix), mergeQueue: build.options?.merge_queue };
}

export const maxRequestNumber = 2_147_483_647;

/** The number of a pull request, by which lists find it. Null: callers may name a request by any text. */
export function requestNumberOf(id: string): number | null {
  const number = /^[1-9]\d{0,9}$/.test(id) ? Number(id) : 0;
  return number > 0 && number <= maxRequestNumber ? number : null;
}
