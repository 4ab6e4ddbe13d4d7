import type { Db } from "../db/database.ts";
import { takeIfFree } from "../db/shared-values-store.ts";
import { secondMs } from "../durations.ts";

export const measureEveryMs = 15 * secondMs;
/** Outlives two failed measurements. */
const takenMs = 3 * measureEveryMs;

/** Returns true for one worker of the installation: the same one, until it stops. @param holder names the worker */
export function takeMeasuring(db: Db, holder: string): Promise<boolean> {
  return db.transaction((tx) => takeIfFree(tx, "measuring", { holder, forMs: takenMs }));
}
