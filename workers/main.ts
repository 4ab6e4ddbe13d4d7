import "../shared/process/node-version.ts";
import { constants, getPriority, setPriority } from "node:os";
import { type WorkQueue, workQueues } from "../shared/jobs/define.ts";
import { configurationFault } from "../shared/process/exit-codes.ts";
import { runProcess } from "../shared/services/run.ts";
import { startWorkers } from "./run.ts";

/** `workers/main.ts deliveries maintenance dispatch notifications`. Default: all work queues. */
const given = process.argv.slice(2);
const unknown = given.filter((name) => !(workQueues as readonly string[]).includes(name));
if (unknown.length > 0) {
  process.stderr.write(`Unknown work queue ${unknown.join(", ")}. There are: ${workQueues.join(", ")}.\n`);
  process.exit(configurationFault);
}
const queues = given.length > 0 ? (given as WorkQueue[]) : workQueues;

// Builds, which other processes make, go first on a busy machine.
const { PRIORITY_BELOW_NORMAL: low } = constants.priority;
if (queues.every((queue) => queue === "notifications") && getPriority() < low) setPriority(low);

await runProcess(`worker:${queues.join("+")}`, async (services) => {
  const workers = await startWorkers(services, queues);
  return { description: { queues }, close: workers.close };
});
