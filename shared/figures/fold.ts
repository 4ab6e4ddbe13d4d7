import type { Db } from "../db/database.ts";
import { purgeInBatches, restBetweenTransactions } from "../db/purge-in-batches.ts";
import { dayMs, hourOf } from "../durations.ts";
import type { Services } from "../process/services.ts";
import type { FigureName } from "../vocabulary.ts";
import { addToHours, type Figure, putIfHigher, takeFiguresBefore } from "./store.ts";

export const figureRetentionMs = 8 * dayMs;
const rowsAtOnce = 500;
/** A run leaves the rest to the next. */
const maxFoldsPerRun = 200;

interface Folding {
  figures: readonly FigureName[];
  /** The minutes of each folded row. */
  minutes: number;
  /** The value of the hour. */
  combine: "sum" | "max";
}

/** Moves figures from before an hour into their hours. */
export async function foldBefore(db: Db, { figures, minutes, combine }: Folding, time: Date): Promise<void> {
  for (const figure of figures)
    for (let folds = 0; folds < maxFoldsPerRun; folds++) {
      const folded = await db.transaction(async (tx) => {
        const rows = await takeFiguresBefore(tx, { figure, minutes, time }, rowsAtOnce);
        if (combine === "sum")
          await addToHours(
            tx,
            combineByHour(rows, (values) => values.reduce((a, b) => a + b, 0)),
          );
        else
          await putIfHigher(
            tx,
            combineByHour(rows, (values) => Math.max(...values)),
            60,
          );
        return rows.length;
      });
      if (folded < rowsAtOnce) break;
      await restBetweenTransactions();
    }
}

/** Leaves out 0. Sorts the hours: different orders would deadlock. */
function combineByHour(rows: Figure[], combine: (values: number[]) => number): Figure[] {
  const hours = Map.groupBy(rows, ({ subjectId, time }) => `${subjectId} ${hourOf(time).getTime()}`);
  const combined = [...hours]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, ofHour]) => {
      const [{ subjectId, figure, time }] = ofHour as [Figure];
      return { subjectId, figure, time: hourOf(time), value: combine(ofHour.map(({ value }) => value)) };
    });
  return combined.filter(({ value }) => value > 0);
}

/** @returns the number deleted */
export async function purgeFigures({ db, clock }: Services, figures: readonly FigureName[]): Promise<number> {
  const time = new Date(clock.now().getTime() - figureRetentionMs);
  let purged = 0;
  for (const figure of figures)
    purged += await purgeInBatches(db, async (tx, limit) => {
      const deleted = await takeFiguresBefore(tx, { figure, minutes: 60, time }, limit);
      return deleted.length;
    });
  return purged;
}
