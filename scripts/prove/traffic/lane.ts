import { setTimeout as sleep } from "node:timers/promises";
import type { Reachable } from "../installation/installation.ts";
import { pick, type Random } from "../random.ts";
import type { Timeline } from "../timeline.ts";
import type { Observed } from "./observed.ts";

interface LaneOptions {
  installation: Reachable;
  observed: Observed;
  timeline: Timeline;
  random: Random;
  signal: AbortSignal;
}

/** The needs of a caller of any kind. */
export interface Lane extends LaneOptions {
  /** The address of some ingress process. */
  url(): string;
  /** Addresses of two ingress processes, where there are two. */
  twoUrls(): string[];
  /** Ends early when the run stops. */
  pause(ms: number): Promise<void>;
}

export function openLane(options: LaneOptions): Lane {
  const { installation, random, signal } = options;
  const { urls } = installation;
  return {
    ...options,
    url: () => pick(random, urls),
    twoUrls() {
      const first = random(urls.length);
      return [first, first + 1].map((index) => urls[index % urls.length] ?? "");
    },
    pause: (ms) => sleep(ms, undefined, { signal }).catch(() => {}),
  };
}
