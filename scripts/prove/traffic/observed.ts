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
  /** Groups over their limit, and jobs that overtook others, at these looks. */
  groupFaults: { fault: string; atMs: number }[];
  /** Requests to cancel a build. */
  cancels: Attempt[];
  unblocks: Unblock[];
  lateWrites: LateWrite[];
  /** Jobs that wait for an agent, a group or a person, at the last look. */
  waitingJobs: number;
}

export function observeNothing(): Observed {
  return {
    posts: [],
    signIns: [],
    dispatchChanges: [],
    assignments: [],
    doubleLeases: [],
    cancels: [],
    groupFaults: [],
    unblocks: [],
    lateWrites: [],
    leaseLooks: 0,
    waitingJobs: 0,
  };
}

/** A webhook, sent twice at once, and again, under its key until the outcome is known; without a key sent once. */
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
  /** Jobs of the queue that waited just after the answer to a pause. */
  waitingJobs: number;
}

/** A job was assigned between the two times. */
export interface Assignment {
  queueId: string;
  jobId: string;
  fromMs: number;
  untilMs: number;
}

/** A request to unblock a step. */
export interface Unblock {
  jobId: string;
  /** Its answer to the field of the step. */
  value: string;
  /** It unblocked the step. Undefined: there was no answer. */
  isDone: boolean | undefined;
  /** Seconds since the machine's start. */
  sentAt: number;
  answeredAt: number | undefined;
  attempts: Attempt[];
}

/** A write with the token of an attempt that was over. */
export interface LateWrite {
  name: "start" | "chunk" | "meta-data" | "finish";
  jobId: string;
  /** No other attempt followed. */
  isLast: boolean;
  /** Undefined: no answer. */
  status: number | undefined;
  attempts: Attempt[];
}

/** An agent's row names a job that is leased by another agent, or by none. */
export interface DoubleLease {
  jobId: string;
  agentIds: [string, string | null];
  atMs: number;
}
