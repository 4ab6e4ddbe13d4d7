import type { Tx } from "../../db/database.ts";
import { branchRules } from "../../pipelines/settings.ts";
import type { Pipeline } from "../../pipelines/store.ts";
import { insertFollowUps } from "../follow-ups/store.ts";
import type { Build } from "../store.ts";

/** Makes due what new builds do to older ones. Of several new builds of a branch, the last one does it for all. */
export async function insertBranchFollowUps(tx: Tx, pipelines: Pipeline[], builds: Build[]): Promise<void> {
  const byId = new Map(pipelines.map((pipeline) => [pipeline.id, pipeline]));
  const last = new Map<string, string>();
  for (const { id, pipelineId, branch } of builds) {
    const pipeline = byId.get(pipelineId);
    const rules = pipeline && branchRules(pipeline, branch);
    if (rules?.skips || rules?.cancels) last.set(`${pipelineId} ${branch}`, id);
  }
  if (last.size > 0) await insertFollowUps(tx, "branch", [...last.values()]);
}
