// Totals of builds, jobs, agents, audit entries, pipelines and secrets: the records of an organization, which are never
// evicted. They are counted later, in the order of their ids, so that no transaction that creates one waits for a total.
// Jobs, also late ones, count in the hour of their build, and go with it.

import { restBetweenTransactions } from "../db/batches.ts";
import type { Db, Tx } from "../db/database.ts";
import { findSharedValue, putSharedValue } from "../db/shared-values-store.ts";
import { hourMs, hourOf, minuteMs } from "../durations.ts";
import { lowestIdAt, timeOfId } from "../ids.ts";
import type { Services } from "../services/services.ts";
import {
  addToRecordBytes,
  type FlatKind,
  findRecordId,
  findTotalledHourAfter,
  flatKinds,
  type IdRange,
  listRecordTotals,
  lockRecordTotals,
  measureCountedArtifactRows,
  measureCountedBuilds,
  measureFlatById,
  measureNewRecords,
  type RecordBytes,
  replaceRecordTotals,
  setRecordsCountedBelow,
  sumBuildBytes,
  sumFlatBytes,
} from "./records-store.ts";
import { addToTotals, type OrganizationBytes } from "./totals-store.ts";

/** A record commits after its id was made. The recount finds one that commits later than this. */
const countedAfterMs = minuteMs;
const defaultLimits = { rowsAtOnce: 5000, maxTransactions: 200 };
/** A build may have 4,000 jobs. */
const buildsAtOnce = 100;
const maxRecounted = 20_000;
/** A recount of so many takes half a minute. Larger hours are left to the rounds. */
const maxOfRecentHour = 100_000;
const recountedName = "records_recounted_until";

/** Adds new records to the totals, where the last run stopped. Commits totals and progress together. */
export async function countRecords(
  { db, log }: Services,
  { rowsAtOnce, maxTransactions }: typeof defaultLimits = defaultLimits,
): Promise<void> {
  for (let run = 0; run < maxTransactions; run++) {
    const isLast = await db.transaction((tx) => countNextRecords(tx, rowsAtOnce));
    if (isLast) return;
    await restBetweenTransactions();
  }
  log.info("records remain to be counted; the next run goes on");
}

async function countNextRecords(tx: Tx, maxRows: number): Promise<boolean> {
  const from = await lockRecordTotals(tx);
  const tooYoung = lowestIdAt(new Date(tx.now.getTime() - countedAfterMs));
  if (from >= tooYoung) return true;

  let below = tooYoung;
  for (const kind of ["builds", "jobs", ...flatKinds] as const)
    below = (await findRecordId(tx, kind, { from, below }, maxRows)) ?? below;
  await change(tx, await measureNewRecords(tx, { from, below }), 1);
  await setRecordsCountedBelow(tx, below);
  return below === tooYoung;
}

/** Call it before builds are deleted, in the same transaction. */
export async function uncountBuilds(tx: Tx, ids: string[]): Promise<void> {
  if (ids.length === 0) return;
  const countedBelow = await lockRecordTotals(tx);
  await change(tx, await measureCountedBuilds(tx, ids, countedBelow), -1);
}

/** Call it before artifacts are deleted without their builds, in the same transaction. */
export async function uncountArtifactRows(tx: Tx, ids: string[]): Promise<void> {
  if (ids.length === 0) return;
  const countedBelow = await lockRecordTotals(tx);
  await change(tx, await measureCountedArtifactRows(tx, ids, countedBelow), -1);
}

/** Call it before agents or audit entries are deleted, in the same transaction. */
export async function uncount(tx: Tx, kind: FlatKind, ids: string[]): Promise<void> {
  if (ids.length === 0) return;
  const countedBelow = await lockRecordTotals(tx);
  const records = await measureFlatById(tx, kind, ids);
  await change(
    tx,
    records.filter(({ id }) => id < countedBelow),
    -1,
  );
}

/**
 * Counts what a change makes of pipelines or secrets, in a transaction of its own after that of the change: nobody who
 * edits one waits for a count. The recount corrects changes of one record at the same time.
 */
export async function countingChange<Result>(
  { db, log }: Pick<Services, "db" | "log">,
  { kind, ids }: { kind: FlatKind; ids: string[] },
  run: () => Promise<Result>,
): Promise<Result> {
  const before = await measureFlatById(db, kind, ids);
  const result = await run();
  const after = await measureFlatById(db, kind, ids);
  const changed = [...before.map((each) => ({ ...each, bytes: -each.bytes })), ...after];
  const count = async (tx: Tx) => {
    const countedBelow = await lockRecordTotals(tx);
    await change(
      tx,
      changed.filter(({ id }) => id < countedBelow),
      1,
    );
  };
  if (changed.reduce((sum, { bytes }) => sum + bytes, 0) !== 0)
    await db
      .transaction(count)
      .catch((error: unknown) => log.warn({ err: error }, "will count a change later"));
  return result;
}

async function change(tx: Tx, records: RecordBytes[], sign: 1 | -1): Promise<void> {
  const byHour = Map.groupBy(records, ({ id }) => hourOf(timeOfId(id)).getTime());
  for (const [hour, ofHour] of byHour) {
    const sums = [...sumByOrganization(ofHour)].map(([organizationId, bytes]) => ({
      organizationId,
      bytes: sign * bytes,
    }));
    await addToTotals(tx, tx.tables.recordTotals, new Date(hour), sums);
  }
  for (const [organizationId, bytes] of sumByOrganization(records))
    await addToRecordBytes(tx, { organizationId, bytes: sign * bytes });
}

/**
 * Counts records once more, by the hour, and replaces totals that differ: records grow, and some commit late. A run
 * counts this hour and the one before, whose builds grow most, and goes on with the hours after those of the last run.
 */
export async function recountRecords(
  { db, clock }: Services,
  { maxBuilds = maxRecounted, maxOfHour = maxOfRecentHour } = {},
): Promise<void> {
  const thisHour = hourOf(clock.now());
  const hourBefore = new Date(thisHour.getTime() - hourMs);
  let counted = 0;
  for (const recent of [thisHour, hourBefore])
    if (!(await findRecordId(db, "builds", idsOf(recent), maxOfHour)))
      counted += await recountHour(db, recent);
  let hour: Date | undefined = new Date((await findSharedValue(db, recountedName)) ?? 0);
  do {
    hour = await findHourAfter(db, hour, hourBefore);
    if (hour) counted += await recountHour(db, hour);
    const until = (hour ?? new Date(0)).toISOString();
    await db.transaction((tx) => putSharedValue(tx, recountedName, until));
  } while (hour && counted < maxBuilds);
}

function idsOf(hour: Date): IdRange {
  return { from: lowestIdAt(hour), below: lowestIdAt(new Date(hour.getTime() + hourMs)) };
}

/** The next hour up to `last` that has a total or a record. */
async function findHourAfter(db: Db, hour: Date, last: Date): Promise<Date | undefined> {
  const end = new Date(last.getTime() + hourMs);
  const range = { from: lowestIdAt(new Date(hour.getTime() + hourMs)), below: lowestIdAt(end) };
  const hours: Date[] = [];
  for (const kind of ["builds", ...flatKinds] as const) {
    const id = await findRecordId(db, kind, range, 0);
    if (id !== undefined) hours.push(hourOf(timeOfId(id)));
  }
  const totalled = await findTotalledHourAfter(db, hour);
  const next = Math.min(...[...hours, ...(totalled ? [totalled] : [])].map((each) => each.getTime()));
  return next < end.getTime() ? new Date(next) : undefined;
}

/**
 * Reads in batches without a lock. Changes nothing if records of the hour were counted or deleted meanwhile: a later run
 * does it.
 * @returns the number of builds, at least 1
 */
async function recountHour(db: Db, hour: Date): Promise<number> {
  const countedBelow = await db.transaction(lockRecordTotals);
  const { from: start, below: end } = idsOf(hour);
  const range = { from: start, below: end < countedBelow ? end : countedBelow };
  if (range.below <= range.from) return 1;
  const before = await listRecordTotals(db, hour);

  const sums: OrganizationBytes[] = [];
  for (const kind of flatKinds) sums.push(...(await sumFlatBytes(db, kind, range)));
  let counted = 1;
  for (let from: string | undefined = range.from; from !== undefined; counted += buildsAtOnce) {
    const next = await findRecordId(db, "builds", { ...range, from }, buildsAtOnce);
    sums.push(...(await sumBuildBytes(db, { from, below: next ?? range.below }, countedBelow)));
    if (next !== undefined) await restBetweenTransactions();
    from = next;
  }
  const after = [...sumByOrganization(sums)].map(([organizationId, bytes]) => ({ organizationId, bytes }));
  if (isSame(before, after)) return counted;
  await db.transaction(async (tx) => {
    if ((await lockRecordTotals(tx)) !== countedBelow && end > countedBelow) return;
    if (!isSame(before, await listRecordTotals(tx, hour))) return;
    await replaceRecordTotals(tx, hour, after);
    const taken = before.map(({ organizationId, bytes }) => ({ organizationId, bytes: -bytes }));
    for (const [organizationId, bytes] of sumByOrganization([...taken, ...after]))
      await addToRecordBytes(tx, { organizationId, bytes });
  });
  return counted;
}

function sumByOrganization(all: OrganizationBytes[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const { organizationId, bytes } of all)
    sums.set(organizationId, (sums.get(organizationId) ?? 0) + bytes);
  return sums;
}

function isSame(one: OrganizationBytes[], other: OrganizationBytes[]): boolean {
  const sums = sumByOrganization(one);
  return (
    one.length === other.length &&
    other.every(({ organizationId, bytes }) => sums.get(organizationId) === bytes)
  );
}
