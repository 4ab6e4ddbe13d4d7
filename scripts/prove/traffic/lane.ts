import type { Reachable } from "../installation/installation.ts";
import type { Random } from "../random.ts";
import type { Timeline } from "../timeline.ts";
import type { Observed } from "./observed.ts";

/** The needs of a caller of any kind. */
export interface Lane {
  installation: Reachable;
  observed: Observed;
  timeline: Timeline;
  random: Random;
  signal: AbortSignal;
  /** The address of some ingress process. */
  url(): string;
  /** Ends early when the run stops. */
  pause(ms: number): Promise<void>;
}
