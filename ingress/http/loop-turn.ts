import { setImmediate as nextTurn } from "node:timers/promises";
import { openTurns } from "../../shared/runtime/turns.ts";

/** A request's own work takes about a millisecond. */
const maxBeginning = 2;

/**
 * Resolves in a turn of the event loop in which few other requests of this owner begin. Others need not wait for all
 * that a single owner sends at once.
 */
export const loopTurn = openLoopTurns(maxBeginning);

/** @returns a function that resolves for this many callers of an owner in each turn of the event loop */
export function openLoopTurns(maxInTurn: number): (owner: string) => Promise<void> {
  const turns = openTurns({ maxRunningPerOwner: maxInTurn });
  return (owner) =>
    new Promise((resolve) => {
      void turns.take(owner, () => {
        resolve();
        return nextTurn();
      });
    });
}
