import { matchesBranch } from "../../conditions/branches.ts";
import type { Pipeline } from "../../pipelines/store.ts";
import { excerpt, type Problem } from "../../refusal.ts";
import type { UnwantedReason } from "../../vocabulary.ts";
import type { Build } from "../rows/build-store.ts";

/** Undefined if the pipeline wants a build of this branch. */
export function reasonNotToBuild(
  { archivedAt, branchConfiguration }: Pick<Pipeline, "archivedAt" | "branchConfiguration">,
  { branch, options }: Pick<Build, "branch"> & { options?: Build["options"] },
): UnwantedReason | undefined {
  if (archivedAt) return "pipeline_archived";
  if (branchConfiguration === null || options?.ignore_pipeline_branch_filters) return undefined;
  return matchesBranch(branchConfiguration, branch) ? undefined : "branch_mismatch";
}

/** The reason in words, for people who ask for a build. */
export function problemOf(reason: UnwantedReason, branch: string): Problem {
  if (reason === "pipeline_archived")
    return { field: "pipeline", message: "Pipeline is archived: it makes no builds" };
  return {
    field: "branch",
    message: `Branch ${excerpt(branch)} is not among those that the pipeline builds`,
  };
}
