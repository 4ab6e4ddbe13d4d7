import type { z } from "zod";

export const workQueues = ["deliveries", "maintenance", "dispatch"] as const;
/** A BullMQ queue, and the kind of worker process that serves it. */
export type WorkQueue = (typeof workQueues)[number];

/** The name, work queue and data of a background job. */
export interface JobContract<Data = unknown> {
  name: string;
  queue: WorkQueue;
  /** Checked by the worker. Ids only: the rows are the truth. */
  data: z.ZodType<Data>;
  /** Tries of a failing job, with growing pauses. */
  attempts: number;
  /** For recurring jobs. */
  everyMs?: number;
}

export function defineJob<Data>(contract: JobContract<Data>): JobContract<Data> {
  return contract;
}
