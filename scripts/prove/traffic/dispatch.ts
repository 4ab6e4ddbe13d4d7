import { pathTo, patterns } from "../../../shared/paths.ts";
import { between, pick } from "../random.ts";
import type { Look } from "./agents.ts";
import type { Attempt } from "./call.ts";
import type { Lane } from "./lane.ts";
import type { DispatchChange } from "./observed.ts";

/** In the second after a resume, all agents that waited ask for a job: half of the pauses race them. */
const runningMs: [number, number][] = [
  [0, 1200],
  [1000, 4000],
];

/** Pauses a queue and resumes it, again and again, over REST. Looks who has which job as a pause begins and ends. */
export async function pauseAndResume(lane: Lane, queueId: string, look: Look): Promise<void> {
  while (!lane.signal.aborted) {
    await lane.pause(between(lane.random, ...pick(lane.random, runningMs)));
    const paused = await changeDispatch(lane, queueId, "pause");
    const waiting = await look();
    if (paused) paused.waitingJobs = waiting?.get(queueId) ?? 0;
    await lane.pause(between(lane.random, 500, 2500));
    await look();
    await changeDispatch(lane, queueId, "resume");
  }
}

/** Repeats the request until the outcome is known. Returns the last one. */
export async function changeDispatch(
  lane: Lane,
  queueId: string,
  action: DispatchChange["action"],
): Promise<DispatchChange | undefined> {
  const { slug: org, clusterId: cluster } = lane.installation.organization;
  const pattern = action === "pause" ? patterns.pauseDispatch : patterns.resumeDispatch;
  const path = pathTo(pattern, { org, cluster, queue: queueId });
  let last: DispatchChange | undefined;
  while (!last?.isDone && !lane.signal.aborted) {
    const attempts: Attempt[] = [];
    const { status } = await lane.send(path, { name: action, method: "POST" }, attempts);
    const isDone = status === 200 || status === 422; // it was so already, by an earlier try
    const changes = attempts.map((attempt) => ({ ...attempt, queueId, action, isDone, waitingJobs: 0 }));
    lane.observed.dispatchChanges.push(...changes);
    last = changes.at(-1);
    if (!isDone) await lane.pause(200);
  }
  return last;
}
