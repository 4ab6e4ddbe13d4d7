import { performance } from "node:perf_hooks";
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

/** Sets the options that a process has once it runs. V8 reuses compiled code only under the same options. */
export function setOptionsOfRunning(): void {
  letHeapGrow();
  exposeCollector();
}

function exposeCollector(): void {
  setFlagsFromString("--expose-gc");
}

/** V8 gives up compiled code that has not run since this many collections of the whole heap. */
const bytecodeAge = { usual: 6, ofStart: 1 };
const codeReleaseAfterMs = 2 * secondMs;
/** A busier process is about to need the code. */
const maxUtilization = 0.2;

/**
 * Call after the start: loading modules leaves 10 to 15 MB of garbage, and 5 MB of compiled code that ran once. The
 * code is given up two seconds later, unless requests come already.
 */
export function releaseMemory(): void {
  exposeCollector();
  const collect: (options: object) => void = runInNewContext("gc");
  const release = () => collect({ type: "major", execution: "sync", flavor: "last-resort" }); // the default flavor keeps the pages
  release();
  const before = performance.eventLoopUtilization();
  setTimeout(() => {
    if (performance.eventLoopUtilization(before).utilization > maxUtilization) return;
    setFlagsFromString(`--bytecode-old-age=${bytecodeAge.ofStart}`);
    release();
    setFlagsFromString(`--bytecode-old-age=${bytecodeAge.usual}`);
  }, codeReleaseAfterMs).unref();
}
