import { setTimeout as sleep } from "node:timers/promises";
import type { Reachable } from "../installation/installation.ts";
import { pick, type Random } from "../random.ts";
import type { Timeline } from "../timeline.ts";
import { type Attempt, call, type Outcome } from "./call.ts";
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
  /** Sends a request to some ingress process, with the token of the API unless it has another. */
  send(path: string, init: RequestInit & { name: string }, attempts?: Attempt[]): Promise<Outcome>;
  /** Ends early when the run stops. */
  pause(ms: number): Promise<void>;
}

export function openLane(options: LaneOptions): Lane {
  const { installation, random, signal, timeline } = options;
  const { urls, organization } = installation;
  const url = () => pick(random, urls);
  return {
    ...options,
    url,
    twoUrls() {
      const first = random(urls.length);
      return [first, first + 1].map((index) => urls[index % urls.length] ?? "");
    },
    send(path, init, attempts = []) {
      const headers = { Authorization: `Bearer ${organization.apiToken}`, ...init.headers };
      return call({ timeline, attempts }, url() + path, { ...init, headers });
    },
    pause: (ms) => sleep(ms, undefined, { signal }).catch(() => {}),
  };
}
