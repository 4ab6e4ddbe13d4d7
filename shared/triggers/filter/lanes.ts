import { resources } from "../../sharing/bounds.ts";
import { rememberRecent } from "../../sharing/recent.ts";
import { openTurns, type TurnBounds } from "../../sharing/turns.ts";
import { type FilterEvaluator, openFilterEvaluator } from "./evaluator.ts";

/**
 * Two threads for filters. Organizations take turns in the first; those with slow filters take turns in the second, so
 * that they delay only each other.
 */
export interface FilterLanes {
  /**
   * Runs the task in the organization's turn, with a thread to evaluate filters in.
   * @param signal ends the wait
   */
  take<Result>(
    organizationId: string,
    task: (evaluate: Evaluate) => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result>;
  /** Returns the moving average of the organization's evaluations. */
  averageMs(organizationId: string): number;
  close(): Promise<void>;
}

export type Evaluate = FilterEvaluator["evaluateFirst"];

const slowMs = 50;
/** The assumed time of evaluations of which one missed its deadline. */
const lateMs = 1000;
/** The assumed time of an organization's first evaluation. */
const initialMs = 5;
/**
 * One evaluation of 100 ms makes an organization slow at once, because its next one may hold the thread until the
 * deadline. Then one or two quick ones make it quick again; after a missed deadline it takes thirty.
 */
const weights = { slower: 0.5, quicker: 0.075 };
const maxOrganizations = 10_000;
/** A payload takes up to thirty times as much once it is parsed: with one in each thread a worker took 604 MB. */
const largeBytes = 1024 * 1024;

const moved = Symbol("moved");

/** Starts each lane with an evaluator of its own. */
export function openFilterLanes(openEvaluator: () => FilterEvaluator = openFilterEvaluator): FilterLanes {
  const averages = rememberRecent<number>(maxOrganizations);
  const large = openTurns({ ...resources.threads, max: 1, restFactor: 0 });
  const quick = openLane(openEvaluator(), { ...resources.threads, max: 2, restFactor: 0 });
  const slow = openLane(openEvaluator(), { ...resources.threads, max: 1 });

  const averageMs = (organizationId: string) => averages.get(organizationId) ?? initialMs;
  const isSlow = (organizationId: string) => averageMs(organizationId) > slowMs;
  const record = (organizationId: string, ms: number) => {
    const average = averageMs(organizationId);
    const weight = ms > average ? weights.slower : weights.quicker;
    averages.set(organizationId, average + weight * (ms - average));
  };
  const evaluateIn =
    ({ evaluator }: Lane, organizationId: string): Evaluate =>
    async (inputs, signal) => {
      const evaluate = () => evaluator.evaluateFirst(inputs, signal);
      const isLarge = inputs.reduce((sum, { size }) => sum + size, 0) > largeBytes;
      const evaluations = await (isLarge ? large.take(organizationId, evaluate, signal) : evaluate());
      for (const { ms } of evaluations) record(organizationId, ms);
      if (evaluations.length === 0) record(organizationId, lateMs);
      return evaluations;
    };

  return {
    averageMs,
    async take(organizationId, task, signal) {
      if (!isSlow(organizationId)) {
        const result = await quick.turns.take(
          organizationId,
          async () => (isSlow(organizationId) ? moved : task(evaluateIn(quick, organizationId))),
          signal,
        );
        if (result !== moved) return result;
      }
      return slow.turns.take(organizationId, () => task(evaluateIn(slow, organizationId)), signal);
    },
    async close() {
      await Promise.all([quick.evaluator.close(), slow.evaluator.close()]);
    },
  };
}

type Lane = ReturnType<typeof openLane>;

function openLane(evaluator: FilterEvaluator, bound: TurnBounds) {
  return { evaluator, turns: openTurns(bound) };
}
