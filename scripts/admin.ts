import "../shared/process/node-version.ts";
import { runAdmin } from "./admin/run.ts";
import { readAddresses } from "./start/running.ts";

process.exitCode = await runAdmin(process.argv.slice(2), {
  env: process.env,
  addresses: readAddresses(),
  stdin: process.stdin,
  write: (text) => process.stdout.write(text),
  writeError: (text) => process.stderr.write(text),
  isTerminal: process.stdout.isTTY,
  window: () => ({ columns: process.stdout.columns, rows: process.stdout.rows }),
  isWatched: process.stderr.isTTY,
  untilInterrupted,
});

function untilInterrupted(): AbortSignal {
  const interrupted = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interrupted.abort());
  return interrupted.signal;
}
