import type { ProveTrigger } from "../installation/organization.ts";
import type { Attempt } from "./call.ts";

/** All that callers did and were answered. */
export interface Observed {
  posts: Post[];
  signIns: SignIn[];
  dispatchChanges: DispatchChange[];
  assignments: Assignment[];
  /** Looks at who has which job. */
  leaseLooks: number;
  /** Jobs that two agents had at one moment. */
  doubleLeases: DoubleLease[];
  /** Requests to cancel a build. */
  cancels: Attempt[];
  /** Jobs without an agent, at the last look. */
  waitingJobs: number;
}

/** A webhook, sent again under its key until the outcome is known; without a key sent once. */
export interface Post {
  number: number;
  trigger: ProveTrigger["name"];
  /** True if the trigger's filter lets it build. */
  builds: boolean;
  /** Its signature is wrong. */
  isForged: boolean;
  key: string | undefined;
  attempts: Attempt[];
  /** Ids that were answered with 201. */
  ids: string[];
}

/** A device that signs in: several pollers race for its tokens, through several processes. */
export interface SignIn {
  userCode: string;
  deviceCode: string;
  attempts: Attempt[];
  /** Access tokens that were answered. */
  tokens: string[];
}

/** A request to pause or resume a queue. */
export interface DispatchChange extends Attempt {
  queueId: string;
  action: "pause" | "resume";
  /** The queue is paused or running from the answer on. False: unknown. */
  isDone: boolean;
}

/** A job was assigned between the two times. */
export interface Assignment {
  queueId: string;
  jobId: string;
  fromMs: number;
  untilMs: number;
}

/** An agent's row names a job that is leased by another agent, or by none. */
export interface DoubleLease {
  jobId: string;
  agentIds: [string, string | null];
  atMs: number;
}
