import { constants, setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import { inMs, type ThreadMessage } from "./threads.ts";

// The module of each thread of `Threads`. An error of a task ends the thread.

// Event loops, which many callers wait for, go first on a busy machine. Elsewhere than on Linux it would be the process's.
if (process.platform === "linux") setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL);

const send = (message: ThreadMessage) => parentPort?.postMessage(message);

parentPort?.on("message", async ({ module, name, input }) => {
  const { [name]: task } = await import(module);
  send({ cpuMs: inMs(process.threadCpuUsage()) });
  if (task) send({ result: task(input) });
});
