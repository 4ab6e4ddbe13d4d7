import { hourMs, minuteMs, secondMs } from "../durations.ts";
import { defineRecurringJob, defineWakeUp } from "./define.ts";

// A background job carries nothing, and may run twice, late or not at all: the rows say what there is to do.
// A contract ends with `Job`, unlike the function that does the job.

/** Wakes a worker: deliveries were accepted. */
export const createBuildsJob = defineWakeUp("create-builds", "deliveries");

/** Evicts old payloads, and the oldest of an organization over its limit. */
export const evictPayloadsJob = defineRecurringJob("evict-payloads", "maintenance", 10 * minuteMs);

/** Evicts old logs of jobs, and the oldest of an organization over its limit. */
export const evictLogsJob = defineRecurringJob("evict-logs", "maintenance", 10 * minuteMs);

/** Expires old artifacts, and the oldest of an organization over its limit. Files fill a disk faster than rows. */
export const evictArtifactsJob = defineRecurringJob("evict-artifacts", "maintenance", minuteMs);

/** Removes bytes that no artifact names, and what interrupted uploads left. */
export const removeUnnamedBlobsJob = defineRecurringJob("remove-unnamed-blobs", "maintenance", 10 * minuteMs);

/** Gives up artifacts that their agents never finished. */
export const failForgottenArtifactsJob = defineRecurringJob(
  "fail-forgotten-artifacts",
  "maintenance",
  10 * minuteMs,
);

export const expireDeviceCodesJob = defineRecurringJob("expire-device-codes", "maintenance", minuteMs);

/** Stores when access tokens were last used. */
export const recordUsageJob = defineRecurringJob("record-usage", "maintenance", 5 * secondMs);

/** Totals what organizations store. */
export const countStoredBytesJob = defineRecurringJob("count-stored-bytes", "maintenance", minuteMs);

/** Corrects the totals of records. */
export const recountRecordsJob = defineRecurringJob("recount-records", "maintenance", 10 * minuteMs);

/** Counts by the minute what charts show. */
export const rollUpFiguresJob = defineRecurringJob("roll-up-figures", "maintenance", minuteMs);

/** Gives new builds and deliveries the words by which a search finds them. */
export const fillWordsJob = defineRecurringJob("fill-words", "maintenance", 10 * secondMs);

/** Makes the webhooks of pipelines that a version without them made. */
export const followProvidersJob = defineRecurringJob("follow-providers", "maintenance", minuteMs);

export const purgeExpiredJob = defineRecurringJob("purge-expired", "maintenance", hourMs);

/** Wakes a worker: a transaction has made tasks due, which only workers do. */
export const doTasksJob = defineWakeUp("do-tasks", "dispatch");

/** Makes the builds of schedules that are due. */
export const createScheduledBuildsJob = defineRecurringJob("create-scheduled-builds", "dispatch", minuteMs);

/** Wakes a worker: a transaction wrote news or messages. */
export const sendNewsJob = defineWakeUp("send-news", "notifications");

/** Takes the jobs of lost agents back. */
export const loseUnseenAgentsJob = defineRecurringJob("lose-unseen-agents", "dispatch", 5 * secondMs);

/** Schedules jobs again that stacks reserved for long enough, and loses silent stacks. */
export const releaseReservationsJob = defineRecurringJob("release-reservations", "dispatch", 5 * secondMs);

/** Stops jobs past the time-out of their step, and ends those that were canceled by force. */
export const timeOutJobsJob = defineRecurringJob("time-out-jobs", "dispatch", 5 * secondMs);

export const expireJobsJob = defineRecurringJob("expire-jobs", "maintenance", hourMs);
