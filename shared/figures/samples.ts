import { restBetweenTransactions } from "../db/batches.ts";
import type { Db } from "../db/database.ts";
import { hourMs, hourOf, minuteMs } from "../durations.ts";
import type { FigureName } from "../vocabulary.ts";
import { moveIntoHours } from "./hours.ts";
import { type Figure, putIfHigher } from "./store.ts";

/** A sample is the highest value of a figure in this many minutes. */
export const sampleMinutes = 10;
/** Of older samples the highest of each hour is kept. */
const keptSingleMs = 26 * hourMs;
const rowsAtOnce = 500;

/** Stores present values. 0 needs no row: `queues_sampled` tells it from a time without samples. */
export async function storeSamples(db: Db, now: Date, samples: Omit<Figure, "time">[]): Promise<void> {
  const lengthMs = sampleMinutes * minuteMs;
  const time = new Date(Math.floor(now.getTime() / lengthMs) * lengthMs);
  const rows = samples.filter(({ value }) => value > 0).map((sample) => ({ ...sample, time }));
  for (let at = 0; at < rows.length; at += rowsAtOnce)
    await db.transaction((tx) => putIfHigher(tx, rows.slice(at, at + rowsAtOnce), sampleMinutes));
  await restBetweenTransactions();
}

export function moveSamplesIntoHours(db: Db, now: Date, figures: readonly FigureName[]): Promise<void> {
  const before = hourOf(new Date(now.getTime() - keptSingleMs));
  return moveIntoHours(db, { figures, minutes: sampleMinutes, combine: "max" }, before);
}
