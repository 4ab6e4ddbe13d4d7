import { setTimeout as sleep } from "node:timers/promises";
import { minuteMs, secondMs } from "../../durations.ts";
import type { Clock } from "../../process/clock.ts";
import type { Db } from "../database.ts";
import { isSqliteUrl } from "../open.ts";
import { putSharedValue } from "../shared-values-store.ts";
import { type DatabaseProblem, findProblem, lockedProblem } from "./problem.ts";

/**
 * Knows by the outcome of the last write if this process can write to the database, and if it met damage in any
 * statement.
 */
export interface WriteHealth {
  /** Records a committed write, or the fault that prevented one. */
  record(fault?: Error): void;
  /** Records the fault of any statement. Only damage counts: other faults of reads pass with their cause. */
  recordDamage(fault: unknown): void;
  /** The outcome of the last write; undefined before the first. */
  isWritable(): boolean | undefined;
  /** Undefined too if the last write failed for a reason that passes by itself, such as a lost connection. */
  problem(): DatabaseProblem | undefined;
  /** Writes first, unless a write ended in the last 5 seconds. */
  check(db: Db): Promise<DatabaseProblem | undefined>;
}

const probeEveryMs = 5 * secondMs;
/** An answer of /readyz waits this long for a probe. A later answer has the outcome. */
const probeWaitMs = secondMs;
/** Postgres may be mended while it runs. A damaged SQLite file stays so until the process has ended. */
const damageOfPostgresMs = minuteMs;

export function openWriteHealth({ databaseUrl, clock }: { databaseUrl: string; clock: Clock }): WriteHealth {
  let last: { at: number; fault: Error | undefined; problem?: DatabaseProblem | undefined } | undefined;
  let damage: { at: number; problem: DatabaseProblem } | undefined;
  let probe: { at: number; ended: Promise<void> } | undefined;

  const isRecent = (at: number) => Math.abs(clock.now().getTime() - at) < probeEveryMs;
  const recordDamage = (fault: unknown) => {
    const found = findProblem(fault, databaseUrl);
    if (found?.state === "damaged") damage = { at: clock.now().getTime(), problem: found };
  };
  const record = (fault?: Error) => {
    if (fault) recordDamage(fault);
    last = { at: clock.now().getTime(), fault };
  };
  const write = async (db: Db) => {
    try {
      // One row for all processes: it does not grow.
      await db.transaction((tx) => putSharedValue(tx, "write_probe", tx.now.toISOString()));
    } catch {
      // recorded
    } finally {
      probe = undefined;
    }
  };
  const isStuck = () => probe !== undefined && !isRecent(probe.at) && !(last && isRecent(last.at));
  const findDamage = () => {
    const isOver =
      damage && !isSqliteUrl(databaseUrl) && clock.now().getTime() > damage.at + damageOfPostgresMs;
    return isOver ? undefined : damage?.problem;
  };
  const problem = () => {
    const found = findDamage();
    if (found) return found;
    if (isStuck()) return lockedProblem(databaseUrl);
    if (last?.fault) last.problem ??= findProblem(last.fault, databaseUrl);
    return last?.problem?.lasts ? last.problem : undefined;
  };

  return {
    record,
    recordDamage,
    problem,
    isWritable: () => (isStuck() || findDamage() ? false : last && last.fault === undefined),
    async check(db) {
      if (!last || !isRecent(last.at)) probe ??= { at: clock.now().getTime(), ended: write(db) };
      if (probe && isRecent(probe.at))
        await Promise.race([probe.ended, sleep(probeWaitMs, undefined, { ref: false })]);
      return problem();
    },
  };
}
