import { setTimeout as sleep } from "node:timers/promises";
import { secondMs } from "../../durations.ts";
import type { Clock } from "../../process/clock.ts";
import type { Db } from "../database.ts";
import { putFact } from "../facts-store.ts";
import { findWriteProblem, lockedProblem, type WriteProblem } from "./problem.ts";

/** Knows by the outcome of the last write if this process can write to the database. */
export interface WriteHealth {
  /** Records a committed write, or the fault that prevented one. */
  record(fault?: Error): void;
  /** The outcome of the last write; undefined before the first. */
  isWritable(): boolean | undefined;
  /** Undefined too if the last write failed for a reason that is not the disk's, such as a lost connection. */
  problem(): WriteProblem | undefined;
  /** Writes first, unless a write ended in the last 5 seconds. */
  check(db: Db): Promise<WriteProblem | undefined>;
}

const probeEveryMs = 5 * secondMs;
/** An answer of /readyz waits this long for a probe. A later answer has the outcome. */
const probeWaitMs = secondMs;

export function openWriteHealth({ databaseUrl, clock }: { databaseUrl: string; clock: Clock }): WriteHealth {
  let last: { at: number; fault: Error | undefined; problem?: WriteProblem | undefined } | undefined;
  let probe: { at: number; ended: Promise<void> } | undefined;

  const isRecent = (at: number) => Math.abs(clock.now().getTime() - at) < probeEveryMs;
  const record = (fault?: Error) => {
    last = { at: clock.now().getTime(), fault };
  };
  const write = async (db: Db) => {
    try {
      // One row for all processes: it does not grow.
      await db.transaction((tx) => putFact(tx, "write_probe", tx.now.toISOString()));
    } catch {
      // recorded
    } finally {
      probe = undefined;
    }
  };
  const isStuck = () => probe !== undefined && !isRecent(probe.at) && !(last && isRecent(last.at));
  const problem = () => {
    if (isStuck()) return lockedProblem(databaseUrl);
    if (last?.fault) last.problem ??= findWriteProblem(last.fault, databaseUrl);
    return last?.problem;
  };

  return {
    record,
    problem,
    isWritable: () => (isStuck() ? false : last && last.fault === undefined),
    async check(db) {
      if (!last || !isRecent(last.at)) probe ??= { at: clock.now().getTime(), ended: write(db) };
      if (probe && isRecent(probe.at))
        await Promise.race([probe.ended, sleep(probeWaitMs, undefined, { ref: false })]);
      return problem();
    },
  };
}
