import { setTimeout as sleep } from "node:timers/promises";
import type { Reachable } from "../installation/installation.ts";
import { pick, randomNumbers } from "../random.ts";
import type { Timeline } from "../timeline.ts";
import { watchAssignments } from "./agents.ts";
import { cancelBuilds } from "./cancels.ts";
import { sendPosts } from "./deliveries.ts";
import { signDevicesIn } from "./devices.ts";
import { pauseAndResume, resume } from "./dispatch.ts";
import type { Lane } from "./lane.ts";
import type { Observed } from "./observed.ts";

export interface Traffic {
  observed: Observed;
  /** Waits for the requests on their way, and resumes the queues. */
  stop(): Promise<void>;
}

const senders = 10;
const devices = 3;
const resumeWithinMs = 60_000;

/** Starts the callers. */
export function startTraffic(installation: Reachable, timeline: Timeline, seed: number): Traffic {
  const isOver = new AbortController();
  const observed: Observed = {
    ...{ posts: [], signIns: [], dispatchChanges: [], assignments: [], doubleLeases: [], cancels: [] },
    ...{ leaseLooks: 0, waitingJobs: 0 },
  };
  let lanes = 0;
  const openLane = (signal = isOver.signal): Lane => {
    const random = randomNumbers(seed * 1000 + ++lanes);
    const url = () => pick(random, installation.urls);
    const pause = (ms: number) => sleep(ms, undefined, { signal }).catch(() => {});
    return { installation, observed, timeline, random, signal, url, pause };
  };
  const { queueIds } = installation.organization;
  const running = [
    ...Array.from({ length: senders }, () => sendPosts(openLane())),
    ...Array.from({ length: devices }, () => signDevicesIn(openLane())),
    ...queueIds.map((queueId) => pauseAndResume(openLane(), queueId)),
    cancelBuilds(openLane()),
    watchAssignments(openLane()),
  ];
  return {
    observed,
    async stop() {
      isOver.abort();
      await Promise.all(running);
      const signal = AbortSignal.timeout(resumeWithinMs);
      await Promise.all(queueIds.map((queueId) => resume(openLane(signal), queueId)));
    },
  };
}
