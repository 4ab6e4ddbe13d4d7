import { setImmediate as nextTurn } from "node:timers/promises";

/** Other requests wait this long at most. */
const maxHeldMs = 5;

/** Returns a function to await in a long loop: it gives a turn of the event loop to others when it has been held. */
export function openLoopPauses(): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < maxHeldMs) return undefined;
    return nextTurn().then(() => {
      since = performance.now();
    });
  };
}

/** Work that yields after each piece of it. */
export type Pieces<Result> = Generator<void, Result>;

/** For callers that have the event loop, or a thread, for themselves. */
export function doAtOnce<Result>(work: Pieces<Result>): Result {
  for (;;) {
    const piece = work.next();
    if (piece.done) return piece.value;
  }
}

/** Gives turns of the event loop to others between the pieces. */
export async function doWithPauses<Result>(work: Pieces<Result>): Promise<Result> {
  const pause = openLoopPauses();
  for (;;) {
    const piece = work.next();
    if (piece.done) return piece.value;
    await pause();
  }
}
