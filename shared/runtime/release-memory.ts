import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Call after the start: loading modules grows V8's young generation to 300 MB around a live heap of 30 MB. */
export function releaseMemory(): void {
  setFlagsFromString("--expose-gc");
  const collect: (options: object) => void = runInNewContext("gc");
  collect({ type: "major", execution: "sync", flavor: "last-resort" }); // the default flavor keeps the pages
}
