import type { Db } from "../db/database.ts";
import { claimIfFree } from "../db/shared-values-store.ts";
import { secondMs } from "../durations.ts";

export const measureEveryMs = 15 * secondMs;
/** A claim outlives two failed measurements. */
const claimMs = 3 * measureEveryMs;

/** Returns true for one worker of the installation: the same one, until it stops. @param holder names the worker */
export function claimMeasuring(db: Db, holder: string): Promise<boolean> {
  return db.transaction((tx) => claimIfFree(tx, "measuring", { holder, forMs: claimMs }));
}
