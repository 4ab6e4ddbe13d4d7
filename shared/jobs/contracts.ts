import { z } from "zod";
import { defineJob } from "./define.ts";

// All asynchronous work. Every job may run twice, late or not at all: what it does is decided by rows,
// and the second run changes nothing.

const seconds = 1000;
const minutes = 60 * seconds;

/** Build what these deliveries ask for. */
export const createBuilds = defineJob({
  name: "create-builds",
  queue: "deliveries",
  data: z.object({ deliveryIds: z.array(z.uuid()).min(1) }),
  attempts: 8,
});

/** Send a new job for deliveries whose own was lost. */
export const requeueStrandedDeliveries = defineJob({
  name: "requeue-stranded-deliveries",
  queue: "maintenance",
  data: z.object({}),
  attempts: 1,
  everyMs: 5 * seconds,
});

/** Drop payloads that are too old or, in an organization that has too many bytes of them, the oldest. */
export const evictPayloads = defineJob({
  name: "evict-payloads",
  queue: "maintenance",
  data: z.object({}),
  attempts: 1,
  everyMs: 10 * minutes,
});

/** Write down which device codes have expired, and forget old ones. */
export const expireDeviceCodes = defineJob({
  name: "expire-device-codes",
  queue: "maintenance",
  data: z.object({}),
  attempts: 1,
  everyMs: 1 * minutes,
});

/** Write down when access tokens were last used. */
export const recordUsage = defineJob({
  name: "record-usage",
  queue: "maintenance",
  data: z.object({}),
  attempts: 1,
  everyMs: 5 * seconds,
});

/** Delete what is past its retention: deliveries, finished builds, audit entries, spent keys, tokens, sessions. */
export const purgeExpired = defineJob({
  name: "sweep-retention",
  queue: "maintenance",
  data: z.object({}),
  attempts: 1,
  everyMs: 60 * minutes,
});

/** Make the waiting jobs of a queue, and their builds, match whether the queue is paused now. */
export const fanOutDispatchPause = defineJob({
  name: "fan-out-dispatch-pause",
  queue: "dispatch",
  data: z.object({ queueId: z.uuid() }),
  attempts: 8,
});

/** Send a fan-out for every queue where one may have been lost. */
export const requeueDispatchPauses = defineJob({
  name: "sweep-dispatch-pauses",
  queue: "dispatch",
  data: z.object({}),
  attempts: 1,
  everyMs: 1 * minutes,
});
