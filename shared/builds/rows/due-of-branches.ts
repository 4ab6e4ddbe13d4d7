import type { Tx } from "../../db/database.ts";
import { branchRules } from "../../pipelines/settings.ts";
import type { Pipeline } from "../../pipelines/store.ts";
import { later } from "../../tasks/store.ts";
import type { Build } from "./build-store.ts";

/** Makes due what new builds do to older ones. Of several new builds of a branch, the last one does it for all. */
export async function dueOfBranches(tx: Tx, pipelines: Pipeline[], builds: Build[]): Promise<void> {
  const byId = new Map(pipelines.map((pipeline) => [pipeline.id, pipeline]));
  const last = new Map<string, Build>();
  for (const build of builds) {
    const { pipelineId, branch } = build;
    const pipeline = byId.get(pipelineId);
    const rules = pipeline && branchRules(pipeline, branch);
    if (rules?.skips || rules?.cancels) last.set(`${pipelineId} ${branch}`, build);
  }
  for (const { id, organizationId } of last.values()) await later(tx, "branch", organizationId, [id]);
}
