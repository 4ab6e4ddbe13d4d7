export const workQueues = ["deliveries", "maintenance", "dispatch", "notifications"] as const;
export type WorkQueue = (typeof workQueues)[number];

export interface JobContract {
  name: string;
  queue: WorkQueue;
  /** Absent: it is sent, and has no schedule. */
  everyMs?: number;
}

/** A job that is sent when there is something to do. Workers look for it also without the job. */
export function defineWakeUp(name: string, queue: WorkQueue): JobContract {
  return { name, queue };
}

/** A job that its schedule repeats. */
export function defineRecurringJob(name: string, queue: WorkQueue, everyMs: number): JobContract {
  return { name, queue, everyMs };
}
