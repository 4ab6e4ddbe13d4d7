import { runBatches } from "../db/batches.ts";
import type { Db } from "../db/database.ts";
import { dayMs, hourOf } from "../durations.ts";
import { afterMs, type Expiring, expiring } from "../retention/expiring.ts";
import type { FigureName } from "../vocabulary.ts";
import { addToHours, type Figure, putIfHigher, takeFiguresBefore } from "./store.ts";

export const figureRetentionMs = 8 * dayMs;
const rowsAtOnce = 500;
/** A run leaves the rest to the next run. */
const maxBatchesPerRun = 200;

interface Move {
  figures: readonly FigureName[];
  /** The minutes of each row that is moved. */
  minutes: number;
  /** The value of the hour. */
  combine: "sum" | "max";
}

/** Moves figures from before an hour into their hours. */
export async function moveIntoHours(db: Db, { figures, minutes, combine }: Move, time: Date): Promise<void> {
  for (const figure of figures)
    await runBatches(
      db,
      async (tx) => {
        const rows = await takeFiguresBefore(tx, { figure, minutes, time }, rowsAtOnce);
        if (combine === "sum") {
          const sum = (values: number[]) => values.reduce((a, b) => a + b, 0);
          await addToHours(tx, combineByHour(rows, sum));
        } else {
          const highest = combineByHour(rows, (values) => Math.max(...values));
          await putIfHigher(tx, highest, 60);
        }
        return { count: rows.length, isLast: rows.length < rowsAtOnce };
      },
      { maxBatches: maxBatchesPerRun },
    );
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

export function oldFigures(figures: readonly FigureName[]): Expiring[] {
  return figures.map((figure) =>
    expiring("figures", afterMs(figureRetentionMs), async (tx, time, limit) => {
      const deleted = await takeFiguresBefore(tx, { figure, minutes: 60, time }, limit);
      return deleted.length;
    }),
  );
}
