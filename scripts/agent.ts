import "../shared/process/node-version.ts";
import { setMaxListeners } from "node:events";
import { releaseMemory } from "../shared/process/heap.ts";
import { runAgent } from "./agent/run.ts";

const afterJob = new AbortController();
const now = new AbortController();
setMaxListeners(0, afterJob.signal, now.signal); // each session listens

/** Until then the agent has registered: its first calls load the modules that calls need. */
const releaseAfterMs = 5000;
/** npm repeats a signal that both get, such as that of Ctrl-C. */
const repeatedWithinMs = 300;
let lastMs = Number.NEGATIVE_INFINITY;

/** The first signal lets the job finish, the second cancels it, the third ends the process. */
function stop(): void {
  if (performance.now() - lastMs < repeatedWithinMs) return;
  lastMs = performance.now();
  if (now.signal.aborted) process.exit(1);
  if (!afterJob.signal.aborted) {
    process.stdout.write("Stopping after the current job. Another signal cancels it.\n");
  }
  (afterJob.signal.aborted ? now : afterJob).abort();
}

process.exitCode = await runAgent(process.argv.slice(2), {
  env: process.env,
  stdin: process.stdin,
  write: (text) => process.stdout.write(text),
  writeError: (text) => process.stderr.write(text),
  onStart: () => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, stop);
    setTimeout(releaseMemory, releaseAfterMs).unref();
  },
  stop: { afterJob: afterJob.signal, now: now.signal },
});
