export const workQueues = ["deliveries", "maintenance", "dispatch"] as const;
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

/** Jobs of a former release, which the rows make unnecessary. */
export const formerJobs = [
  "check-artifacts",
  "do-follow-ups",
  "fan-out-dispatch-pause",
  "rebuild-deliveries",
  "requeue-bulk-rebuilds",
  "requeue-dispatch-pauses",
  "requeue-stranded-deliveries",
];
