import type { Db } from "../db/database.ts";
import { restBetweenTransactions } from "../db/purge-in-batches.ts";
import { hourMs, hourOf, minuteMs } from "../durations.ts";
import type { FigureName } from "../vocabulary.ts";
import { foldBefore } from "./fold.ts";
import { type Figure, raiseTo } from "./store.ts";

/** Of each figure, the highest value of so many minutes is kept. */
export const sampleMinutes = 10;
/** Then the highest of an hour. */
const keptMs = 26 * hourMs;
const rowsAtOnce = 500;

/** Stores what is now. 0 needs no row, as long as a row says that somebody looked. */
export async function storeSamples(db: Db, now: Date, samples: Omit<Figure, "time">[]): Promise<void> {
  const lengthMs = sampleMinutes * minuteMs;
  const time = new Date(Math.floor(now.getTime() / lengthMs) * lengthMs);
  const rows = samples.filter(({ value }) => value > 0).map((sample) => ({ ...sample, time }));
  for (let at = 0; at < rows.length; at += rowsAtOnce)
    await db.transaction((tx) => raiseTo(tx, rows.slice(at, at + rowsAtOnce), sampleMinutes));
  await restBetweenTransactions();
}

export function foldSamples(db: Db, now: Date, figures: readonly FigureName[]): Promise<void> {
  const before = hourOf(new Date(now.getTime() - keptMs));
  return foldBefore(db, { figures, minutes: sampleMinutes, keeps: "highest" }, before);
}
