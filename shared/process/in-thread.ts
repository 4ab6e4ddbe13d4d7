import { parentPort } from "node:worker_threads";
import { inMs, type ThreadMessage } from "./threads.ts";

// The module of each thread of `Threads`. An error of a task ends the thread.

const send = (message: ThreadMessage) => parentPort?.postMessage(message);

parentPort?.on("message", async ({ module, name, input }) => {
  const { [name]: task } = await import(module);
  send({ cpuMs: inMs(process.threadCpuUsage()) });
  send({ result: task(input) });
});
