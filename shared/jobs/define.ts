import type { z } from "zod";

export const workQueues = ["deliveries", "maintenance", "dispatch"] as const;
/** A BullMQ queue with its own kind of worker process. */
export type WorkQueue = (typeof workQueues)[number];

/** Makes one job of those that a process sends in quick succession. */
export interface Gathering<Data> {
  /** The first job after a pause of this length is sent at once; later ones wait up to as long. */
  withinMs: number;
  merge: (parts: Data[]) => Data;
  weigh: (data: Data) => number;
  /** Of a merged job. A heavier part is sent alone. */
  maxWeight: number;
}

export interface JobContract<Data = unknown> {
  name: string;
  queue: WorkQueue;
  /** Ids only: the rows are the truth. */
  data: z.ZodType<Data>;
  /** Tries of a failing job, with growing pauses. */
  attempts: number;
  /** For recurring jobs. */
  everyMs?: number;
  gathering?: Gathering<Data>;
}

export function defineJob<Data>(contract: JobContract<Data>): JobContract<Data> {
  return contract;
}
