import { pathTo, patterns } from "../../../shared/paths.ts";
import { between } from "../random.ts";
import { type Attempt, call, type Outcome } from "./call.ts";
import type { Lane } from "./lane.ts";
import type { DispatchChange } from "./observed.ts";

/** Pauses a queue and resumes it, again and again, over REST. */
export async function pauseAndResume(lane: Lane, queueId: string): Promise<void> {
  while (!lane.signal.aborted) {
    await lane.pause(between(lane.random, 1000, 4000));
    await change(lane, queueId, "pause");
    await lane.pause(between(lane.random, 500, 3000));
    await change(lane, queueId, "resume");
  }
}

export function resume(lane: Lane, queueId: string): Promise<void> {
  return change(lane, queueId, "resume");
}

/** Repeats the request until the outcome is known. */
async function change(lane: Lane, queueId: string, action: DispatchChange["action"]): Promise<void> {
  const { slug: org, clusterId: cluster, apiToken } = lane.installation.organization;
  const pattern = action === "pause" ? patterns.pauseDispatch : patterns.resumeDispatch;
  const path = pathTo(pattern, { org, cluster, queue: queueId });
  let isDone = false;
  while (!isDone && !lane.signal.aborted) {
    const attempts: Attempt[] = [];
    const headers = { Authorization: `Bearer ${apiToken}` };
    const outcome = await call({ ...lane, attempts }, lane.url() + path, {
      name: action,
      method: "POST",
      headers,
    });
    isDone = isKnown(outcome);
    for (const attempt of attempts)
      lane.observed.dispatchChanges.push({ ...attempt, queueId, action, isDone });
    if (!isDone) await lane.pause(200);
  }
}

/** 422: it was so already, by an earlier try. */
function isKnown({ status }: Outcome): boolean {
  return status === 200 || status === 422;
}
