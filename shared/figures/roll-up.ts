import { restBetweenTransactions } from "../db/batches.ts";
import type { Db, Reader } from "../db/database.ts";
import { hourOf, minuteMs, minuteOf } from "../durations.ts";
import type { Services } from "../services/services.ts";
import type { FigureName } from "../vocabulary.ts";
import { figureRetentionMs, moveIntoHours } from "./hours.ts";
import { type Figure, findProgress, listMinute, moveProgressIf, putMinutes } from "./store.ts";

/** A row commits after its id was made, and is decided later still. */
const settledAfterMs = 10 * minuteMs;
const rowsAtOnce = 500;

/** Rows that are counted by the minute. */
export interface FigureSource {
  name: string;
  figures: readonly FigureName[];
  /** Returns the first time, not before `from`, that has rows to count. */
  findNext(db: Db, from: Date): Promise<Date | undefined>;
  /** Counts rows from `from` on and before `to`. */
  count(db: Reader, from: Date, to: Date): Promise<Omit<Figure, "time">[]>;
}

/**
 * Counts the minutes after the last run, and the ten minutes before again. Then moves earlier minutes into their hours.
 * A run that takes too long leaves the rest to the next. It stops if another run has moved the progress: that run may
 * have moved the minutes that it would write again.
 */
export async function rollUp(
  { db, clock }: Services,
  source: FigureSource,
  { maxMinutes = 120 } = {},
): Promise<void> {
  const now = clock.now();
  let stored = await findProgress(db, source.name);
  // A clock that was ahead may have stored a later time.
  let progress = earlier(stored ?? before(now, figureRetentionMs), now);
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
  const settled = hourOf(before(progress, settledAfterMs));
  await moveIntoHours(db, { figures: source.figures, minutes: 1, combine: "sum" }, settled);
}

function before(time: Date, ms: number): Date {
  return new Date(time.getTime() - ms);
}

function earlier(one: Date, other: Date): Date {
  return one < other ? one : other;
}

/** Returns figures of a minute whose count differs from the stored value. One that is no longer counted is 0. */
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

/** @returns false if another run has moved the progress */
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
