import type { DeliveryReason } from "../vocabulary.ts";

/** The reasons why deliveries make no build, in words. */
export const reasonWords: Record<DeliveryReason, string> = {
  event_ignored: "its event makes no builds",
  other_repository: "it is about another repository than the pipeline’s",
  branch_deleted: "it reports that a branch or tag was deleted",
  builds_of_branches_off: "builds of its branch are switched off",
  builds_of_tags_off: "builds of tags are switched off",
  builds_of_pull_requests_off: "such builds of pull requests are switched off",
  fork: "builds of forks are switched off",
  skip_ci: "its message or title asks for no build",
  branch_mismatch: "the pipeline does not build this branch",
  filter_mismatch: "the filter left it out",
  commit_built: "its commit was built already",
  event_not_understood: "its event was not understood",
  filter_evaluation_failed: "the filter could not be evaluated",
  build_creation_failed: "no build could be made: a step had no queue, or the pipeline was gone",
  pipeline_archived: "the pipeline was archived",
};
