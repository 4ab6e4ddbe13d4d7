import { z } from "zod";
import { type Actor, audit } from "../../accounts/audit.ts";
import { maxPriority } from "../../pipelines/step/members.ts";
import type { PipelineFacts } from "../../pipelines/store.ts";
import { notFound, Refusal } from "../../refusal.ts";
import type { Services } from "../../services/services.ts";
import { setPriorityOfEntry } from "../groups/entries-store.ts";
import { auditSubject } from "../reading/require.ts";
import type { Build } from "../rows/build-store.ts";
import { findJob, lockBuilds, reprioritizeIfWaiting } from "../rows/progress-store.ts";
import { buildTopics } from "../rows/topics.ts";

const error = `Priority must be a whole number from -${maxPriority.toLocaleString("en")} to ${maxPriority.toLocaleString("en")}`;

export const newPriority = z.object({
  priority: z
    .int({ error })
    .min(-maxPriority, { error })
    .max(maxPriority, { error })
    .meta({ description: "Jobs with a higher one are handed out first" }),
});

/**
 * Sets the priority of a job that waits. Its retries have the same.
 * @throws Refusal 404, 422 once an agent has it
 */
export async function reprioritizeJob(
  services: Services,
  actor: Actor,
  { build, pipeline }: { build: Build; pipeline: PipelineFacts },
  { jobId, priority }: { jobId: string; priority: number },
): Promise<void> {
  const changed = await services.db.transaction(async (tx) => {
    const [present] = await lockBuilds(tx, [build.id]);
    const job = await findJob(tx, jobId);
    if (!present || job?.buildId !== build.id || job.type !== "script") throw notFound("job");
    const reprioritized = await reprioritizeIfWaiting(tx, jobId, priority);
    if (present.hasMembers) await setPriorityOfEntry(tx, jobId, priority);
    if (!reprioritized)
      throw new Refusal(422, "Job cannot be reprioritized: an agent has it, or it has finished");
    await audit(tx, actor, "changed the priority of a job of", auditSubject(build, pipeline));
    return reprioritized;
  });
  services.events.publish(buildTopics(build, [changed]));
}
