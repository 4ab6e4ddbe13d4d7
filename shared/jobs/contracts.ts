import { z } from "zod";
import { hourMs, minuteMs, secondMs } from "../durations.ts";
import { defineJob } from "./define.ts";

// All background jobs. Every job may run twice, late or not at all: rows decide what it does, and a second run
// changes nothing.

/** Builds these deliveries. */
export const createBuilds = defineJob({
  name: "create-builds",
  queue: "deliveries",
  data: z.object({ deliveryIds: z.array(z.uuid()).min(1) }),
  attempts: 8,
});

/** Sends a new job for deliveries that lost theirs. */
export const requeueStrandedDeliveries = defineJob({
  name: "requeue-stranded-deliveries",
  queue: "maintenance",
  data: z.object({}),
  attempts: 1,
  everyMs: 5 * secondMs,
});

/** Evicts payloads past their retention, and the oldest of an organization above its limit of bytes. */
export const evictPayloads = defineJob({
  name: "evict-payloads",
  queue: "maintenance",
  data: z.object({}),
  attempts: 1,
  everyMs: 10 * minuteMs,
});

/** Marks overdue device codes as expired, and purges old ones. */
export const expireDeviceCodes = defineJob({
  name: "expire-device-codes",
  queue: "maintenance",
  data: z.object({}),
  attempts: 1,
  everyMs: minuteMs,
});

/** Writes to the database when access tokens were last used. */
export const recordUsage = defineJob({
  name: "record-usage",
  queue: "maintenance",
  data: z.object({}),
  attempts: 1,
  everyMs: 5 * secondMs,
});

/** Purges deliveries, finished builds, audit entries, idempotency keys, tokens and sessions past their retention. */
export const purgeExpired = defineJob({
  name: "purge-expired",
  queue: "maintenance",
  data: z.object({}),
  attempts: 1,
  everyMs: hourMs,
});

/** Makes the waiting jobs of a queue, and their builds, match the pause of the queue. */
export const fanOutDispatchPause = defineJob({
  name: "fan-out-dispatch-pause",
  queue: "dispatch",
  data: z.object({ queueId: z.uuid() }),
  attempts: 8,
});

/** Sends a fan-out for every queue whose own may have been lost. */
export const requeueDispatchPauses = defineJob({
  name: "requeue-dispatch-pauses",
  queue: "dispatch",
  data: z.object({}),
  attempts: 1,
  everyMs: minuteMs,
});
