import type { z } from "zod";

export const workQueues = ["deliveries", "maintenance", "dispatch"] as const;
/** A kind of work, and of worker process: each has one BullMQ queue. */
export type WorkQueue = (typeof workQueues)[number];

/** A piece of asynchronous work: what it is called, where it runs and what travels. */
export interface JobContract<Data = unknown> {
  name: string;
  queue: WorkQueue;
  /** Checked when a worker picks the job up. Ids only: the rows are the truth. */
  data: z.ZodType<Data>;
  /** How often a failing job is tried, with growing pauses, before it counts as failed. */
  attempts: number;
  /** For work that recurs. */
  everyMs?: number;
}

export function defineJob<Data>(contract: JobContract<Data>): JobContract<Data> {
  return contract;
}
