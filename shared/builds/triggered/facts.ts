import type { BuildOptions } from "../../db/schema/builds.ts";
import type { Environment } from "../../pipelines/environment.ts";
import type { PipelineFacts } from "../../pipelines/store.ts";
import { isFullCommit } from "../meta-data/meta-data.ts";
import type { Build } from "../rows/build-store.ts";
import { pullRequestOf } from "../rows/facts.ts";

type Target = Pick<Build, "commit" | "branch"> & Pick<PipelineFacts, "repository">;

/**
 * The facts that a build passes on to one that it triggers. That one may name another pull request by its variables.
 * @param prefix of these
 * @returns isOfOther: the request and the merge queue are of another commit than the new build
 */
export function passOnFacts(
  { options, ...from }: Pick<Build, "options"> & Target,
  { env, ...to }: { env: Environment } & Target,
  prefix: string,
): { facts: BuildOptions; isOfOther: boolean } {
  const { is_fork, url, tag, pull_request, merge_queue } = options ?? {};
  const namesRequest = Object.hasOwn(env, `${prefix}_PULL_REQUEST`);
  const isSame = isSameCommit(from, to) && !options?.triggered_from?.of_other_commit;
  const facts = {
    is_fork,
    url,
    tag: isSame && from.branch === to.branch ? tag : undefined,
    pull_request: namesRequest ? pullRequestOf({ options: null }, env, prefix) : pull_request,
    merge_queue: isSame || !namesRequest ? merge_queue : undefined,
  };
  const known = Object.entries(facts).filter(([, fact]) => fact !== undefined);
  const isOfOther = !isSame && !namesRequest && (pull_request ?? merge_queue) !== undefined;
  return { facts: Object.fromEntries(known), isOfOther };
}

function isSameCommit(from: Target, to: Target): boolean {
  if (from.repository !== to.repository || from.commit !== to.commit) return false;
  return isFullCommit(to.commit) || from.branch === to.branch;
}
