import { setImmediate as nextTurn } from "node:timers/promises";
import { openTurns } from "../../shared/runtime/turns.ts";

/** A request's own work takes about a millisecond. */
const maxBeginning = 4;
const turns = openTurns({ maxRunningPerOwner: maxBeginning });

/**
 * Resolves in a turn of the event loop in which few other requests of this owner begin. Others need not wait for all
 * that a single owner sends at once.
 */
export function loopTurn(owner: string): Promise<void> {
  return new Promise((resolve) => {
    void turns.take(owner, () => {
      resolve();
      return nextTurn();
    });
  });
}
