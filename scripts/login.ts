import "../shared/process/node-version.ts";
import { setTimeout as sleep } from "node:timers/promises";
import open from "open";
import { systemClock } from "../shared/process/clock.ts";
import { runLogin } from "./login/run.ts";
import { readAddresses } from "./start/running.ts";

const interrupted = new AbortController();
// The first Ctrl-C aborts the wait, the second kills the process.
process.once("SIGINT", () => interrupted.abort());

/** Over SSH the user sits at another machine. */
const hasBrowser =
  process.stdout.isTTY &&
  !process.env.SSH_CONNECTION &&
  (process.platform !== "linux" || Boolean(process.env.DISPLAY || process.env.WAYLAND_DISPLAY));

/** The page is also shown, so a browser that does not open is not a fault. */
const openBrowser = (url: string) => void open(url).catch(() => {});

process.exitCode = await runLogin(process.argv.slice(2), {
  env: { ...readAddresses(), ...process.env },
  columns: process.stdout.columns,
  write: (text) => process.stdout.write(text),
  writeError: (text) => process.stderr.write(text),
  ...(hasBrowser && { openBrowser }),
  clock: systemClock,
  sleep: (ms) => sleep(ms, undefined, { signal: interrupted.signal }),
  signal: interrupted.signal,
});
