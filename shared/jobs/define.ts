import type { z } from "zod";

export const workQueues = ["deliveries", "maintenance", "dispatch"] as const;
/** A BullMQ queue with its own kind of worker process. */
export type WorkQueue = (typeof workQueues)[number];

export interface JobContract<Data = unknown> {
  name: string;
  queue: WorkQueue;
  /** Ids only: the rows are the truth. */
  data: z.ZodType<Data>;
  /** Tries of a failing job, with growing pauses. */
  attempts: number;
  /** For recurring jobs. */
  everyMs?: number;
}

export function defineJob<Data>(contract: JobContract<Data>): JobContract<Data> {
  return contract;
}
