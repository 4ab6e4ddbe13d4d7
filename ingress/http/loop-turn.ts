import { setImmediate as nextTurn } from "node:timers/promises";
import { openTurns, type TurnBounds } from "../../shared/runtime/turns.ts";

/** A request's own work takes about a millisecond. */
const maxBeginning = 2;

/**
 * Resolves in a turn of the event loop in which few other requests of this owner begin. Others need not wait for all
 * that a single owner sends at once.
 */
export const loopTurn = openLoopTurns({ maxRunningPerOwner: maxBeginning });

/**
 * @returns a function that resolves for this many callers of an owner in each turn of the event loop, and after the
 * rest that is due for the turns before
 */
export function openLoopTurns(
  bounds: Pick<TurnBounds, "maxRunningPerOwner" | "restFactor">,
): (owner: string) => Promise<void> {
  const turns = openTurns(bounds);
  return (owner) =>
    new Promise((resolve) => {
      void turns.take(owner, () => {
        resolve();
        return nextTurn();
      });
    });
}
