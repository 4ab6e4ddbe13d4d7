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
