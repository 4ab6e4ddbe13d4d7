import { randomUUID } from "node:crypto";
import { countFailingConnections } from "../../shared/connections/store.ts";
import { minuteMs, secondMs, secondsBetween } from "../../shared/durations.ts";
import { workQueues } from "../../shared/jobs/define.ts";
import { countFailed, findOldestNews, findWaitingMessages } from "../../shared/outbox/list-store.ts";
import { findSumOfTotals, findSumsOfOrganizations } from "../../shared/retention/totals-store.ts";
import { measureEveryMs, takeMeasuring } from "../../shared/services/measuring.ts";
import type { Services } from "../../shared/services/services.ts";
import { findWaiting } from "../../shared/triggers/deliveries/due-store.ts";
import { messageKinds } from "../../shared/vocabulary.ts";
import { measureQueues } from "./queues.ts";

const maxDeliveries = 5000;
const maxMessages = 5000;
/** Totals that change slowly, or that read many rows. */
const measureTotalsEveryMs = 10 * minuteMs;

/**
 * One of all workers measures the installation, for the metrics of its process. A scrape reads the last measurement.
 * @returns a function that ends it
 */
export function startMeasuring(services: Services): () => Promise<void> {
  const measure = openMeasurement(services);
  let running: Promise<void> | undefined;
  const measureAgain = () => {
    running ??= measure().finally(() => {
      running = undefined;
    });
  };

  measureAgain();
  const timer = setInterval(measureAgain, measureEveryMs);
  return async () => {
    clearInterval(timer);
    await running;
  };
}

/** Returns a function that measures, if it is this worker's to measure, and never throws. */
export function openMeasurement(services: Services): () => Promise<void> {
  const { db, clock, log, metrics } = services;
  const holder = randomUUID();
  let totalsDueAt = 0;

  const clear = () => {
    metrics.installation.clear();
    totalsDueAt = 0;
  };
  const measureTotals = async () => {
    const now = performance.now();
    if (now < totalsDueAt) return;
    await measureStoredBytes(services);
    metrics.installation.failingConnections.set(await countFailingConnections(db));
    totalsDueAt = now + measureTotalsEveryMs;
  };
  const measure = async () => {
    if (!(await takeMeasuring(db, holder))) return clear();
    await measureDeliveries(services);
    await measureQueues(services);
    await measureBackgroundJobs(services);
    await measureOutbox(services);
    await measureTotals();
    await measureDatabase(services);
    metrics.installation.measuredAt.set(clock.now().getTime() / secondMs);
  };

  return async () => {
    try {
      await measure();
    } catch (error) {
      clear(); // old values would look like new ones
      log.warn({ err: error }, "the installation could not be measured");
    }
  };
}

async function measureDeliveries({ db, clock, metrics }: Services): Promise<void> {
  const { undecided, oldestUndecided } = metrics.installation;
  const { total, receivedAt } = await findWaiting(db, maxDeliveries);
  undecided.set(total);
  oldestUndecided.set(receivedAt ? secondsBetween(receivedAt, clock.now()) : 0);
}

async function measureBackgroundJobs({ jobs, metrics }: Services): Promise<void> {
  const { backgroundJobs } = metrics.installation;
  const counted = await Promise.all(
    workQueues.map(async (queue) => ({ queue, counts: await jobs.countStates(queue) })),
  );
  backgroundJobs.reset(); // a scrape must not come between
  for (const { queue, counts } of counted)
    for (const [state, count] of Object.entries(counts ?? {})) backgroundJobs.set({ queue, state }, count);
}

async function measureOutbox({ db, clock, metrics }: Services): Promise<void> {
  const { waitingMessages, oldestMessage, failedMessages, oldestNews } = metrics.installation;
  const ageOf = (time: Date | undefined) => (time ? secondsBetween(time, clock.now()) : 0);
  const failed = await countFailed(db, maxMessages);
  for (const kind of messageKinds) {
    const { total, createdAt } = await findWaitingMessages(db, kind, maxMessages);
    waitingMessages.set({ kind }, total);
    oldestMessage.set({ kind }, ageOf(createdAt));
    failedMessages.set({ kind }, failed.get(kind) ?? 0);
  }
  oldestNews.set(ageOf(await findOldestNews(db)));
}

async function measureStoredBytes({ db, config, metrics }: Services): Promise<void> {
  const { storedBytes, storedBytesMax, storedBytesLimit } = metrics.installation;
  const { payloadTotals, logTotals, artifactTotals } = db.tables;
  const { storedBytesPerOrganization, payloadBytesPerOrganization, logBytesPerOrganization } = config;
  const { artifactBytesPerOrganization } = config;
  const sums = await findSumsOfOrganizations(db);
  for (const [kind, found, limit] of [
    ["payloads", await findSumOfTotals(db, payloadTotals), payloadBytesPerOrganization],
    ["logs", await findSumOfTotals(db, logTotals), logBytesPerOrganization],
    ["artifacts", await findSumOfTotals(db, artifactTotals), artifactBytesPerOrganization],
    ["kept", sums?.kept, storedBytesPerOrganization],
    ["all", sums?.all, storedBytesPerOrganization],
  ] as const) {
    storedBytes.set({ kind }, found?.bytes ?? 0);
    storedBytesMax.set({ kind }, found?.largest ?? 0);
    storedBytesLimit.set({ kind }, limit);
  }
}

async function measureDatabase({ db, metrics }: Services): Promise<void> {
  const { databaseBytes, databaseLogBytes, diskFreeBytes } = metrics.installation;
  const { bytes, logBytes, freeBytes } = await db.measureSize();
  databaseBytes.set(bytes);
  if (logBytes !== undefined) databaseLogBytes.set(logBytes);
  if (freeBytes !== undefined) diskFreeBytes.set(freeBytes);
}
