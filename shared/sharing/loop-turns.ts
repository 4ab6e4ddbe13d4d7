import { setImmediate as nextTurn } from "node:timers/promises";
import { presentOwner } from "./owner.ts";
import { openTurns, type TurnBounds } from "./turns.ts";

/**
 * @returns a function that resolves for this many callers of an owner in each turn of the event loop, after the rest
 * of the turn before. The signal ends the wait: it rejects with the signal's reason. It rejects with Refusal 503 if too
 * many wait
 */
export function openLoopTurns(
  bound: Omit<TurnBounds, "maxRunning">,
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

/**
 * Cuts long work into slices, so that the slices of an owner, of all of its requests, take turns with a rest.
 * @param turn of `openLoopTurns`
 * @returns a function to await before each step of the work, with the size of the step
 */
export function openSlices(
  turn: (owner: string) => Promise<void>,
  maxSize: number,
): (size: number) => Promise<void> | undefined {
  const owner = presentOwner();
  let left = 0;
  return (size) => {
    const isWithin = size <= left;
    left = (isWithin ? left : maxSize) - size;
    if (isWithin) return undefined;
    return owner === undefined ? nextTurn() : turn(owner);
  };
}
