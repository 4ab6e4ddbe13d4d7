import type { Db, Reader } from "../db/database.ts";
import { purgeInBatches, restBetweenTransactions } from "../db/purge-in-batches.ts";
import { dayMs, hourOf, minuteMs, minuteOf } from "../durations.ts";
import type { Services } from "../runtime/services.ts";
import type { FigureName } from "../vocabulary.ts";
import {
  addToHours,
  type Figure,
  findProgress,
  listMinute,
  moveProgressIf,
  putMinutes,
  takeFiguresBefore,
} from "./store.ts";

/** A row commits after its id was made, and is decided later still. */
const settledAfterMs = 10 * minuteMs;
const retentionMs = 8 * dayMs;
const rowsAtOnce = 500;
const maxFoldsPerRun = 200;

/** Rows that are counted by the minute. */
export interface FigureSource {
  /** Names its progress. */
  name: string;
  figures: readonly FigureName[];
  /** The first time from `from` on that has something to count. */
  findNext(db: Db, from: Date): Promise<Date | undefined>;
  /** Counts what came from `from` on and before `to`. */
  count(db: Reader, from: Date, to: Date): Promise<Omit<Figure, "time">[]>;
}

/**
 * Counts the minutes after the last run, and those ten minutes before again. Then folds the hours before them. A run
 * that takes too long leaves the rest to the next. It stops if another run has gone on: what it would write again may
 * be folded.
 */
export async function rollUp(
  { db, clock }: Services,
  source: FigureSource,
  { maxMinutes = 120 } = {},
): Promise<void> {
  const now = clock.now();
  let stored = await findProgress(db, source.name);
  // A clock that was ahead may have stored a later time.
  let progress = earlier(stored ?? before(now, retentionMs), now);
  let from = minuteOf(before(progress, settledAfterMs));
  for (let minutes = 0; minutes < maxMinutes; minutes++) {
    const next = await source.findNext(db, from);
    const isIdle = !next || next > now;
    const minute = isIdle ? hourOf(before(now, settledAfterMs)) : minuteOf(next);
    const changed = isIdle ? [] : await listChanges(db, source, minute);
    const to = minute > progress ? minute : progress;
    if (changed.length > 0 || to > progress) {
      const isAlone = await store(db, source, { stored, to, changed });
      if (!isAlone) return;
      stored = progress = to;
    }
    if (isIdle) break;
    from = new Date(minute.getTime() + minuteMs);
    await restBetweenTransactions();
  }
  await fold(db, source, hourOf(before(progress, settledAfterMs)));
}

function before(time: Date, ms: number): Date {
  return new Date(time.getTime() - ms);
}

function earlier(one: Date, other: Date): Date {
  return one < other ? one : other;
}

/** What was counted of a minute and differs from what is stored. No longer counted: 0. */
async function listChanges(db: Db, source: FigureSource, minute: Date): Promise<Figure[]> {
  const counted = await source.count(db.offLoop, minute, new Date(minute.getTime() + minuteMs));
  const key = ({ subjectId, figure }: Omit<Figure, "time">) => `${subjectId} ${figure}`;
  const values = new Map(counted.map((each) => [key(each), each.value]));
  const stored = await listMinute(db.offLoop, source.figures, minute);
  const known = new Map(stored.map((row) => [key(row), row.value]));
  return [
    ...counted
      .filter((each) => known.get(key(each)) !== each.value)
      .map((each) => ({ ...each, time: minute })),
    ...stored.filter((row) => row.value > 0 && !values.has(key(row))).map((row) => ({ ...row, value: 0 })),
  ];
}

/** @returns false if another run has gone on */
function store(
  db: Db,
  source: FigureSource,
  { stored, to, changed }: { stored: Date | undefined; to: Date; changed: Figure[] },
): Promise<boolean> {
  return db.transaction(async (tx) => {
    if (!(await moveProgressIf(tx, source.name, stored, to))) return false;
    for (let at = 0; at < changed.length; at += rowsAtOnce)
      await putMinutes(tx, changed.slice(at, at + rowsAtOnce));
    return true;
  });
}

/** Moves minutes into their hours. */
async function fold(db: Db, { figures }: FigureSource, time: Date): Promise<void> {
  for (const figure of figures)
    for (let folds = 0; folds < maxFoldsPerRun; folds++) {
      const folded = await db.transaction(async (tx) => {
        const minutes = await takeFiguresBefore(tx, { figure, minutes: 1, time }, rowsAtOnce);
        await addToHours(tx, sumByHour(minutes));
        return minutes.length;
      });
      if (folded < rowsAtOnce) break;
      await restBetweenTransactions();
    }
}

/** Without those of which there are none. */
function sumByHour(minutes: Figure[]): Figure[] {
  const hours = Map.groupBy(minutes, ({ subjectId, time }) => `${subjectId} ${hourOf(time).getTime()}`);
  const sums = [...hours.values()].map((rows) => {
    const [{ subjectId, figure, time }] = rows as [Figure];
    return { subjectId, figure, time: hourOf(time), value: rows.reduce((sum, { value }) => sum + value, 0) };
  });
  return sums.filter(({ value }) => value > 0);
}

/** @returns the number deleted */
export async function purgeFigures({ db, clock }: Services, sources: FigureSource[]): Promise<number> {
  const time = before(clock.now(), retentionMs);
  let purged = 0;
  for (const figure of sources.flatMap(({ figures }) => figures))
    purged += await purgeInBatches(db, async (tx, limit) => {
      const deleted = await takeFiguresBefore(tx, { figure, minutes: 60, time }, limit);
      return deleted.length;
    });
  return purged;
}
