import { settleBuild } from "../../builds/progress/progress.ts";
import type { Build } from "../../builds/rows/build-store.ts";
import {
  cancelJobsIfUnfinished,
  lockBuilds,
  setEndsAtIfCanceling,
} from "../../builds/rows/progress-store.ts";
import { buildTopics } from "../../builds/rows/topics.ts";
import { secondMs } from "../../durations.ts";
import { notFound } from "../../refusal.ts";
import type { Services } from "../../services/services.ts";
import { findStepId } from "./step-store.ts";

/**
 * Cancels the unfinished jobs of a step, if there are any.
 * @param graceSeconds then the jobs end, whatever their agents do. Undefined: never
 * @param reason names the caller, for people
 * @returns the step's id
 * @throws Refusal 404
 */
export async function cancelStep(
  services: Services,
  { id: buildId }: Build,
  { step, graceSeconds, reason }: { step: string; graceSeconds: number | undefined; reason: string },
): Promise<string> {
  const now = services.clock.now();
  const { build, stepId, changed } = await services.db.transaction(async (tx) => {
    const [build] = await lockBuilds(tx, [buildId]);
    const stepId = build && (await findStepId(tx, buildId, step));
    if (!build || stepId === undefined) throw notFound("step");
    const canceled = await cancelJobsIfUnfinished(tx, { build, stepId, reason }, now);
    if (graceSeconds !== undefined) {
      const endsAt = new Date(now.getTime() + graceSeconds * secondMs);
      await setEndsAtIfCanceling(tx, { buildId, stepId }, endsAt);
    }
    return { build, stepId, changed: [...canceled, ...(await settleBuild(tx, build, now))] };
  });
  services.events.publish(buildTopics(build, changed));
  return stepId;
}
