import type { Db } from "../db/database.ts";
import { secondMs } from "../durations.ts";
import type { FigureSource } from "../figures/roll-up.ts";
import { sumFigures } from "../figures/store.ts";
import { type WaitFigure, waitSeconds } from "../vocabulary.ts";
import { countWaits, findFinishTime } from "./wait-figures-store.ts";

const figures: WaitFigure[] = [
  ...waitSeconds.map((seconds): WaitFigure => `waited_${seconds}`),
  "waited_longer",
];

/**
 * Counts the jobs of each queue by their wait for an agent, in their last attempt. Jobs have no index of times, so they
 * are counted when their build finishes, and once more if it finishes again after a retry.
 */
export const waitFigures: FigureSource = {
  name: "waits",
  figures,
  findNext: findFinishTime,
  async count(db, from, to) {
    const counts = await countWaits(db, from, to);
    return counts.flatMap(({ queueId, ...count }) => (queueId ? { subjectId: queueId, ...count } : []));
  },
};

export interface Waits {
  jobs: number;
  /** Half of the jobs waited at most this long. Infinity: longer than the longest of `waitSeconds`. */
  medianMs: number;
  p95Ms: number;
}

/** Undefined: no job was counted. */
export async function findWaits(db: Db, queueId: string, since: Date): Promise<Waits | undefined> {
  const sums = await sumFigures(db, queueId, figures, since);
  const counts = figures.map((figure) => sums.get(figure) ?? 0);
  const jobs = counts.reduce((sum, count) => sum + count, 0);
  if (jobs === 0) return undefined;
  const within = (share: number): number => {
    let seen = 0;
    const at = counts.findIndex((count) => {
      seen += count;
      return seen >= jobs * share;
    });
    return (waitSeconds[at] ?? Number.POSITIVE_INFINITY) * secondMs;
  };
  return { jobs, medianMs: within(0.5), p95Ms: within(0.95) };
}
