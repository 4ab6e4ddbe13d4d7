import { withServices } from "../../scratch/installation.ts";
import type { Reachable } from "../installation/installation.ts";
import { randomNumbers } from "../random.ts";
import type { Timeline } from "../timeline.ts";
import { openLooks, watchAssignments } from "./agents.ts";
import { cancelBuilds } from "./cancels.ts";
import { sendPosts } from "./deliveries.ts";
import { signDevicesIn } from "./devices.ts";
import { changeDispatch, pauseAndResume } from "./dispatch.ts";
import { type Lane, openLane } from "./lane.ts";
import { type OverAttempt, sendLateWrites, writeLate } from "./late-writes.ts";
import { type Observed, observeNothing } from "./observed.ts";
import { unblockSteps } from "./unblocks.ts";

export interface Traffic {
  observed: Observed;
  /** Waits for the requests on their way, and resumes the queues. Jobs are still watched, steps unblocked, and late writes sent. */
  stop(): Promise<void>;
  /** Call after convergence. */
  end(): Promise<void>;
  /** Call after the end: the writes must change nothing. */
  writeLate(attempts: OverAttempt[]): Promise<void>;
}

const senders = 10;
const devices = 3;
const people = 4;
const resumeWithinMs = 60_000;

/** Starts the callers. */
export function startTraffic(installation: Reachable, timeline: Timeline, seed: number): Traffic {
  const isOver = new AbortController();
  const isEnded = new AbortController();
  const observed = observeNothing();
  let lanes = 0;
  const nextLane = (signal = isOver.signal): Lane => {
    const random = randomNumbers(seed * 1000 + ++lanes);
    return openLane({ installation, observed, timeline, random, signal });
  };
  const { queueIds } = installation.organization;
  const running = [
    ...Array.from({ length: senders }, () => sendPosts(nextLane())),
    ...Array.from({ length: devices }, () => signDevicesIn(nextLane())),
    cancelBuilds(nextLane()),
  ];
  const watching = withServices(installation.installed, async ({ db }) => {
    const look = openLooks({ observed, timeline }, db);
    running.push(...queueIds.map((queueId) => pauseAndResume(nextLane(), queueId, look)));
    await Promise.all([
      watchAssignments(nextLane(isEnded.signal), look),
      writeLate(nextLane(isEnded.signal), db),
      ...Array.from({ length: people }, () => unblockSteps(nextLane(isEnded.signal), db)),
    ]);
  });
  return {
    observed,
    async stop() {
      isOver.abort();
      await Promise.all(running);
      const signal = AbortSignal.timeout(resumeWithinMs);
      await Promise.all(queueIds.map((queueId) => changeDispatch(nextLane(signal), queueId, "resume")));
    },
    async end() {
      isEnded.abort();
      await watching;
    },
    async writeLate(attempts) {
      for (const attempt of attempts) await sendLateWrites(nextLane(isEnded.signal), attempt);
    },
  };
}
