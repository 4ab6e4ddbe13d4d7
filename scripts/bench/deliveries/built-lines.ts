import { percentile } from "../../scratch/figures.ts";
import {
  type Aims,
  cpuLines,
  type Done,
  type Line,
  lineOf,
  pickEach,
  type Round,
  rateLines,
} from "../comparison.ts";

type Built = Done & { delays: number[] };

/** The lines of builds: of as many as can be, and at half that load. */
export function builtLines(
  title: string,
  rounds: Round<{ full: Built; half: Built }>[],
  aims: Aims | undefined,
): Line[] {
  const full = pickEach(rounds, (turn) => turn.full);
  const half = pickEach(rounds, (turn) => turn.half);
  return [
    ...rateLines(title, full, aims),
    lineOf("  at half load: p50 ms until built", half, ({ delays }) => percentile(delays, 0.5)),
    lineOf("  at half load: p99 ms until built", half, ({ delays }) => percentile(delays, 0.99)),
    ...cpuLines("  at half load: ", half),
  ];
}
