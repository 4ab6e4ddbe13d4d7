import { type Batch, runBatches } from "../../db/batches.ts";
import type { Tx } from "../../db/database.ts";
import { hourOf } from "../../durations.ts";
import { type Evictable, type EvictionScope, evict } from "../../retention/evict.ts";
import { afterDays } from "../../retention/expiring.ts";
import {
  addToTotals,
  deleteZeroTotals,
  lockTotalsOf,
  subtractFromTotal,
} from "../../retention/totals-store.ts";
import type { Services } from "../../services/services.ts";
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
/** A run leaves the rest of an organization to the next run. */
const defaultMaxBatches = 10_000;

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
 * Evicts logs past their retention, then the oldest of organizations over their limit. Spares those of running jobs.
 * @param options.isClockTrusted false: keeps those past their retention
 * @returns the number evicted
 */
export async function evictLogs(
  services: Services,
  { isClockTrusted = true, maxBatches = defaultMaxBatches } = {},
): Promise<number> {
  const evicted = await evict(services, endedLogs, isClockTrusted, { maxBatches });
  if (evicted > 0) services.log.info({ logs: evicted }, "evicted logs");
  return evicted;
}

const endedLogs: Evictable = {
  totals: ({ logTotals }) => logTotals,
  expiry: afterDays("logRetentionDays"),
  maxBytes: ({ logBytesPerOrganization }) => logBytesPerOrganization,
  lock: (tx, organizationId) => lockTotalsOf(tx, tx.tables.logTotals, [organizationId]),
  evictNext,
};

/** Deletes the logs of builds that are about to be purged: a cascade would delete all their chunks at once. */
export async function purgeLogsOfBuilds({ db }: Pick<Services, "db">, buildIds: string[]): Promise<void> {
  await runBatches(db, async (tx) => deleteNext(tx, await listLogsOfBuilds(tx, buildIds, maxLogsAtOnce)));
}

/** Deletes what is stored of a job's logs, of all its attempts. */
export async function deleteLogs({ db }: Pick<Services, "db">, jobId: string): Promise<void> {
  await runBatches(db, async (tx) => deleteNext(tx, await listLogsOfJob(tx, jobId)));
}

async function evictNext(tx: Tx, { organizationId, before, excess }: EvictionScope): Promise<Batch> {
  const oldest = await listOldestLogs(tx, organizationId, maxLogsAtOnce);
  let sum = 0;
  const going = oldest.filter(({ createdAt, evictedAt, storedBytes }) => {
    const isGoing = createdAt < before || evictedAt !== null || sum < excess;
    if (isGoing) sum += storedBytes;
    return isGoing;
  });
  const batch = await deleteNext(tx, going);
  if (batch.isLast) await deleteZeroTotals(tx, tx.tables.logTotals, organizationId);
  return { ...batch, isLast: going.length === 0 || (batch.isLast && going.length < maxLogsAtOnce) };
}

/** Deletes the first chunks of these logs. It is the last batch if none is left. */
async function deleteNext(tx: Tx, logs: JobLog[]): Promise<Batch> {
  if (logs.length === 0) return { count: 0, isLast: true };
  const organizationIds = [...new Set(logs.map(({ organizationId }) => organizationId))];
  await lockTotalsOf(tx, tx.tables.logTotals, organizationIds);
  let count = 0;
  let left = maxChunksAtOnce;
  for (const log of logs) {
    const deleted = await deleteFirstChunks(tx, log, left);
    const isGone = deleted.chunks < left;
    await setDeleted(tx, log, { ...deleted, isGone });
    left -= deleted.chunks;
    if (!isGone) return { count, isLast: false };
    count++;
  }
  return { count, isLast: logs.length < maxLogsAtOnce };
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
