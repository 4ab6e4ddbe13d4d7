import { constants, getPriority, setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import { inMs, type ThreadMessage } from "./threads.ts";

// The module of each thread of `Threads`. An error of a task ends the thread.

// Event loops, which many callers wait for, go first on a busy machine. Elsewhere than on Linux it would be the process's.
// Only root may raise the priority of a process that an operator has lowered further.
const low = constants.priority.PRIORITY_BELOW_NORMAL;
if (process.platform === "linux" && getPriority() < low) setPriority(0, low);

const send = (message: ThreadMessage, transferred: ArrayBuffer[] = []) =>
  parentPort?.postMessage(message, transferred);

parentPort?.on("message", async ({ module, name, input }) => {
  const { [name]: task } = await import(module);
  send({ cpuMs: inMs(process.threadCpuUsage()) });
  if (!task) return;
  const result = await task(input);
  send({ result }, result?.transferred);
});
