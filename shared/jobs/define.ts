import { z } from "zod";

export const workQueues = ["deliveries", "maintenance", "dispatch"] as const;
export type WorkQueue = (typeof workQueues)[number];

/** Merges jobs that are sent in quick succession. */
export interface Gathering<Data> {
  /** A job that follows a pause of this length is sent at once. Later jobs wait at most this long. */
  withinMs: number;
  merge: (parts: Data[]) => Data;
  weigh: (data: Data) => number;
  /** Heavier parts go alone. */
  maxWeight: number;
}

export interface JobContract<Data = unknown> {
  name: string;
  queue: WorkQueue;
  /** Ids only: the rows are the truth. */
  data: z.ZodType<Data>;
  /** Runs of a job that fails, with growing pauses. */
  tries: number;
  everyMs?: number;
  gathering?: Gathering<Data>;
}

export function defineJob<Data>(contract: JobContract<Data>): JobContract<Data> {
  return contract;
}

/** A job without data, which its schedule repeats. */
export function defineRecurringJob(name: string, queue: WorkQueue, everyMs: number): JobContract<object> {
  return { name, queue, data: z.object({}), tries: 1, everyMs };
}

/** Jobs of a former release, which the rows make unnecessary. */
export const formerJobs = [
  "check-artifacts",
  "do-follow-ups",
  "fan-out-dispatch-pause",
  "rebuild-deliveries",
  "requeue-bulk-rebuilds",
  "requeue-dispatch-pauses",
];
