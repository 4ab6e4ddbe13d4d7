import { setImmediate as nextTurn } from "node:timers/promises";
import { turns as bounds } from "../../shared/sharing/bounds.ts";
import { openTurns, type TurnBounds } from "../../shared/sharing/turns.ts";

/**
 * Resolves in a turn of the event loop in which few other requests of this owner begin. Others need not wait for all
 * that a single owner sends at once.
 */
export const loopTurn = openLoopTurns(bounds.beginnings);

/**
 * @returns a function that resolves for this many callers of an owner in each turn of the event loop, after the rest
 * of the turn before. The signal ends the wait: it rejects with the signal's reason
 */
export function openLoopTurns(
  bound: Pick<TurnBounds, "maxRunningPerOwner" | "restFactor">,
): (owner: string, signal?: AbortSignal) => Promise<void> {
  const turns = openTurns(bound);
  return (owner, signal) =>
    new Promise((resolve, reject) => {
      const begin = () => {
        resolve();
        return nextTurn();
      };
      turns.take(owner, begin, signal).catch(reject);
    });
}
