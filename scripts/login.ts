import "../shared/runtime/node-version.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../shared/runtime/clock.ts";
import { runLogin } from "./login/run.ts";

const interrupted = new AbortController();
// The first Ctrl-C aborts the wait, the second kills the process.
process.once("SIGINT", () => interrupted.abort());

process.exitCode = await runLogin(process.argv.slice(2), {
  env: process.env,
  columns: process.stdout.columns,
  write: (text) => process.stdout.write(text),
  writeError: (text) => process.stderr.write(text),
  clock: systemClock,
  sleep: (ms) => sleep(ms, undefined, { signal: interrupted.signal }),
  signal: interrupted.signal,
});
