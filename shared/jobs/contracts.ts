import { z } from "zod";
import { hourMs, minuteMs, secondMs } from "../durations.ts";
import { defineJob } from "./define.ts";

// A background job may run twice, late or not at all: rows decide, and a second run changes nothing.

/** Redis and worker pay by the job: a busy process gathers deliveries. */
export const createBuilds = defineJob({
  name: "create-builds",
  queue: "deliveries",
  data: z.object({ deliveryIds: z.array(z.uuid()).min(1) }),
  attempts: 8,
  gathering: {
    withinMs: 20,
    merge: (parts) => ({ deliveryIds: parts.flatMap(({ deliveryIds }) => deliveryIds) }),
    weigh: ({ deliveryIds }) => deliveryIds.length,
    maxWeight: 500,
  },
});

export const requeueStrandedDeliveries = defineJob({
  name: "requeue-stranded-deliveries",
  queue: "maintenance",
  data: z.object({}),
  attempts: 1,
  everyMs: 5 * secondMs,
});

/** Evicts old payloads, and the oldest of an organization over its limit. */
export const evictPayloads = defineJob({
  name: "evict-payloads",
  queue: "maintenance",
  data: z.object({}),
  attempts: 1,
  everyMs: 10 * minuteMs,
});

/** Evicts old logs of jobs, and the oldest of an organization over its limit. */
export const evictLogs = defineJob({
  name: "evict-logs",
  queue: "maintenance",
  data: z.object({}),
  attempts: 1,
  everyMs: 10 * minuteMs,
});

export const expireDeviceCodes = defineJob({
  name: "expire-device-codes",
  queue: "maintenance",
  data: z.object({}),
  attempts: 1,
  everyMs: minuteMs,
});

/** Stores when access tokens were last used. */
export const recordUsage = defineJob({
  name: "record-usage",
  queue: "maintenance",
  data: z.object({}),
  attempts: 1,
  everyMs: 5 * secondMs,
});

/** Counts by the minute what charts show. */
export const rollUpFigures = defineJob({
  name: "roll-up-figures",
  queue: "maintenance",
  data: z.object({}),
  attempts: 1,
  everyMs: minuteMs,
});

/** Purges rows past their retention. */
export const purgeExpired = defineJob({
  name: "purge-expired",
  queue: "maintenance",
  data: z.object({}),
  attempts: 1,
  everyMs: hourMs,
});

/** Makes waiting jobs and builds match their queue's pause. */
export const fanOutDispatchPause = defineJob({
  name: "fan-out-dispatch-pause",
  queue: "dispatch",
  data: z.object({ queueId: z.uuid() }),
  attempts: 1,
});

/** Requeues fan-outs that may be lost. */
export const requeueDispatchPauses = defineJob({
  name: "requeue-dispatch-pauses",
  queue: "dispatch",
  data: z.object({}),
  attempts: 1,
  everyMs: 15 * secondMs,
});

/** Builds deliveries again that a member chose. */
export const rebuildDeliveries = defineJob({
  name: "rebuild-deliveries",
  queue: "dispatch",
  data: z.object({ bulkRebuildId: z.uuid() }),
  attempts: 1,
});

/** Requeues bulk rebuilds that may be lost. */
export const requeueBulkRebuilds = defineJob({
  name: "requeue-bulk-rebuilds",
  queue: "dispatch",
  data: z.object({}),
  attempts: 1,
  everyMs: 15 * secondMs,
});

/** Takes the jobs of lost agents back. */
export const loseUnseenAgents = defineJob({
  name: "lose-unseen-agents",
  queue: "dispatch",
  data: z.object({}),
  attempts: 1,
  everyMs: 5 * secondMs,
});

/** Stops jobs past the time-out of their step. */
export const timeOutJobs = defineJob({
  name: "time-out-jobs",
  queue: "dispatch",
  data: z.object({}),
  attempts: 1,
  everyMs: 5 * secondMs,
});

/** Expires jobs that no agent took. */
export const expireJobs = defineJob({
  name: "expire-jobs",
  queue: "maintenance",
  data: z.object({}),
  attempts: 1,
  everyMs: hourMs,
});
