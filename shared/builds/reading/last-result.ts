import type { Reader } from "../../db/database.ts";
import type { PipelineFacts } from "../../pipelines/store.ts";
import { isStorable } from "../../validation.ts";
import type { BuildState } from "../../vocabulary.ts";
import { planBuildList } from "./list-plan-store.ts";
import { listSliceOf } from "./list-store.ts";

const good: BuildState[] = ["passed", "blocked_passed"];
const bad: BuildState[] = ["failed", "failing", "blocked_failed"];

const listStates = listSliceOf<{ id: string; state: BuildState }>(({ tables: { builds } }) => {
  const { id, state } = builds;
  return { id, state };
});

/** The result of the last build of a branch that has one. Builds that were canceled, skipped or not run have none. */
export async function findLastResult(
  db: Reader,
  { id, organizationId }: Pick<PipelineFacts, "id" | "organizationId">,
  branch: string,
): Promise<"passing" | "failing" | undefined> {
  if (!isStorable(branch)) return undefined;
  const filter = {
    organizationId,
    pipelineId: id,
    branches: [branch],
    states: [...good, ...bad],
    includePaused: true,
  };
  const plan = planBuildList(db, filter, false);
  const [last] = await listStates(db, plan, { after: undefined, size: 1, limit: 1, offset: 0 });
  if (!last) return undefined;
  return good.includes(last.state) ? "passing" : "failing";
}
