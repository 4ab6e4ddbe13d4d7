import type { Actor } from "../accounts/audit.ts";
import type { Services } from "../runtime/services.ts";
import { deleteTriggersOfPipeline } from "../triggers/store.ts";
import { deletePipelineRow } from "./pipelines.ts";
import type { Pipeline } from "./store.ts";

/**
 * Delete a pipeline, and its triggers with it: their URLs answer 404 from then on.
 * @throws Refusal 404, 422 while it has unfinished jobs
 */
export async function deletePipeline(
  { db, clock }: Services,
  actor: Actor,
  pipeline: Pipeline,
): Promise<void> {
  const now = clock.now();
  await db.transaction(async (tx) => {
    await deletePipelineRow(tx, actor, pipeline, now);
    await deleteTriggersOfPipeline(tx, pipeline.id, { now, userId: actor.userId });
  });
}
