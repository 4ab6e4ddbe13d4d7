import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { secondMs } from "../durations.ts";

/**
 * Lets the heap double between two collections of all garbage. V8 counts buffers as heap, and by its own choice lets
 * it grow by a tenth: bodies of 40 MB a second then cause ten collections a second, which stop the event loop for
 * 10 ms each.
 */
export function letHeapGrow(): void {
  setFlagsFromString("--heap-growing-percent=100");
}

/** V8 gives up code that has not run between so many collections. */
const bytecodeAge = { usual: 6, atStart: 1 };
const secondReleaseAfterMs = 2 * secondMs;

/**
 * Call after the start: loading modules leaves garbage of 10 to 15 MB, and code that ran once. A second collection
 * gives up that code, 5 MB a process: until then it may run again.
 */
export function releaseMemory(): void {
  setFlagsFromString("--expose-gc");
  setFlagsFromString(`--bytecode-old-age=${bytecodeAge.atStart}`);
  const collect: (options: object) => void = runInNewContext("gc");
  const release = () => collect({ type: "major", execution: "sync", flavor: "last-resort" }); // the default flavor keeps the pages
  release();
  setTimeout(() => {
    release();
    setFlagsFromString(`--bytecode-old-age=${bytecodeAge.usual}`);
  }, secondReleaseAfterMs).unref();
}
