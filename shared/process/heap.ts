import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * Lets the heap double between two collections of all garbage. V8 counts buffers as heap, and by its own choice lets
 * it grow by a tenth: bodies of 40 MB a second then cause ten collections a second, which stop the event loop for
 * 10 ms each.
 */
export function letHeapGrow(): void {
  setFlagsFromString("--heap-growing-percent=100");
}

/** Call after the start: loading modules leaves garbage of 10 to 15 MB. */
export function releaseMemory(): void {
  setFlagsFromString("--expose-gc");
  const collect: (options: object) => void = runInNewContext("gc");
  collect({ type: "major", execution: "sync", flavor: "last-resort" }); // the default flavor keeps the pages
}
