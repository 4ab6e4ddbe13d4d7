import {
  addToTotals,
  deleteZeroTotals,
  findTotal,
  listOrganizationsToEvict,
  lockTotalsOf,
  subtractFromTotal,
} from "../../accounts/byte-totals-store.ts";
import type { Db, Tx } from "../../db/database.ts";
import { restBetweenTransactions } from "../../db/purge-in-batches.ts";
import { dayMs, hourOf } from "../../durations.ts";
import type { Services } from "../../process/services.ts";
import { deleteFirstChunks } from "./chunk-store.ts";
import {
  countLogIfOpen,
  type JobLog,
  type LogKey,
  listLogsOfBuilds,
  listLogsOfJob,
  listOldestLogs,
  setEvicted,
} from "./store.ts";
import { rowBytes } from "./write.ts";

/** Up to 20 MB. */
const maxChunksAtOnce = 200;
const maxLogsAtOnce = 50;
/** A run leaves the rest to the next. */
const defaultMaxSteps = 10_000;

/**
 * Counts the log of an attempt that ends. Call it in the transaction that ends the lease, after that statement, and as
 * late as possible: attempts of an organization that end at once wait for each other here.
 */
export async function closeLog(tx: Tx, key: LogKey): Promise<void> {
  const log = await countLogIfOpen(tx, key);
  if (!log) return;
  const { organizationId, storedBytes: bytes } = log;
  await addToTotals(tx, tx.tables.logTotals, hourOf(log.createdAt), [{ organizationId, bytes }]);
}

/**
 * Evicts logs past their retention, then the oldest of organizations over their limit, in small transactions. Spares
 * those of running jobs.
 * @param options.isClockTrusted false: keeps those past their retention
 * @returns the number evicted
 */
export async function evictLogs(
  services: Services,
  { isClockTrusted = true, maxSteps = defaultMaxSteps } = {},
): Promise<number> {
  const { db, clock, config, log } = services;
  const age = config.logRetentionDays * dayMs;
  const before = new Date(isClockTrusted ? clock.now().getTime() - age : 0);
  const limits = { before, maxBytes: config.logBytesPerOrganization };
  const organizationIds = await listOrganizationsToEvict(db, db.tables.logTotals, {
    maxBytes: limits.maxBytes,
    time: before,
  });
  let evicted = 0;
  for (const organizationId of organizationIds)
    evicted += await runSteps(db, maxSteps, (tx) => evictNext(tx, organizationId, limits));
  if (evicted > 0) log.info({ logs: evicted }, "evicted logs");
  return evicted;
}

/** Deletes the logs of builds that are about to be purged: a cascade would delete all their chunks at once. */
export async function purgeLogsOfBuilds({ db }: Pick<Services, "db">, buildIds: string[]): Promise<void> {
  await runSteps(db, Number.POSITIVE_INFINITY, async (tx) =>
    deleteNext(tx, await listLogsOfBuilds(tx, buildIds, maxLogsAtOnce)),
  );
}

/** Deletes what is stored of a job's logs, of all its attempts. */
export async function deleteLogs({ db }: Pick<Services, "db">, jobId: string): Promise<void> {
  await runSteps(db, Number.POSITIVE_INFINITY, async (tx) => deleteNext(tx, await listLogsOfJob(tx, jobId)));
}

interface Step {
  /** Logs that are gone now. */
  evicted: number;
  isLast: boolean;
}

async function runSteps(db: Db, maxSteps: number, run: (tx: Tx) => Promise<Step>): Promise<number> {
  let evicted = 0;
  for (let steps = 0; steps < maxSteps; steps++) {
    const step = await db.transaction(run);
    evicted += step.evicted;
    if (step.isLast) return evicted;
    await restBetweenTransactions();
  }
  return evicted;
}

async function evictNext(
  tx: Tx,
  organizationId: string,
  { before, maxBytes }: { before: Date; maxBytes: number },
): Promise<Step> {
  const { logTotals } = tx.tables;
  await lockTotalsOf(tx, logTotals, [organizationId]); // two workers must not evict the same excess twice
  const excess = (await findTotal(tx, logTotals, organizationId)) - maxBytes;
  const oldest = await listOldestLogs(tx, organizationId, maxLogsAtOnce);
  let sum = 0;
  const going = oldest.filter(({ createdAt, evictedAt, storedBytes }) => {
    const isGoing = createdAt < before || evictedAt !== null || sum < excess;
    if (isGoing) sum += storedBytes;
    return isGoing;
  });
  const step = await deleteNext(tx, going);
  if (step.isLast) await deleteZeroTotals(tx, logTotals, organizationId);
  return { ...step, isLast: going.length === 0 || (step.isLast && going.length < maxLogsAtOnce) };
}

/** Deletes the first chunks of these logs. It is the last step if none is left. */
async function deleteNext(tx: Tx, logs: JobLog[]): Promise<Step> {
  if (logs.length === 0) return { evicted: 0, isLast: true };
  const organizationIds = [...new Set(logs.map(({ organizationId }) => organizationId))];
  await lockTotalsOf(tx, tx.tables.logTotals, organizationIds);
  let evicted = 0;
  let left = maxChunksAtOnce;
  for (const log of logs) {
    const deleted = await deleteFirstChunks(tx, log, left);
    const isGone = deleted.chunks < left;
    await setDeleted(tx, log, { ...deleted, isGone });
    left -= deleted.chunks;
    if (!isGone) return { evicted, isLast: false };
    evicted++;
  }
  return { evicted, isLast: logs.length < maxLogsAtOnce };
}

async function setDeleted(
  tx: Tx,
  log: JobLog,
  { chunks, bytes, isGone }: { chunks: number; bytes: number; isGone: boolean },
): Promise<void> {
  const { organizationId, isCounted, storedBytes } = log;
  const freed = isGone ? storedBytes : Math.min(storedBytes, bytes + chunks * rowBytes);
  await setEvicted(tx, log, {
    storedBytes: storedBytes - freed,
    isCounted: isCounted && !isGone,
    evictedAt: log.evictedAt ?? tx.now,
  });
  if (isCounted)
    await subtractFromTotal(tx, tx.tables.logTotals, hourOf(log.createdAt), { organizationId, bytes: freed });
}
