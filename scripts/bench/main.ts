import "../../shared/runtime/node-version.ts";
import { Command } from "commander";
import { agentsBenchmark } from "./agents/command.ts";
import { deliveriesBenchmark } from "./deliveries/command.ts";
import { deviceBenchmark } from "./device/command.ts";
import { fairnessBenchmark } from "./fairness/command.ts";
import { growthBenchmark } from "./growth/command.ts";
import { peersBenchmark } from "./peers/command.ts";
import { queuesBenchmark } from "./queues/command.ts";
import { BenchmarkFailed } from "./scratch.ts";
import { soakBenchmark } from "./soak/command.ts";

/** `npm run bench -- <name>`: starts all servers on free ports, with scratch data and its own Redis. */
const program = new Command("bench")
  .usage("<benchmark> [options]")
  .description("Measure this program against what it could be compared with, side by side in one run.")
  .showHelpAfterError()
  .helpCommand(false)
  .addCommand(deliveriesBenchmark())
  .addCommand(deviceBenchmark())
  .addCommand(queuesBenchmark())
  .addCommand(growthBenchmark())
  .addCommand(fairnessBenchmark())
  .addCommand(agentsBenchmark())
  .addCommand(peersBenchmark())
  .addCommand(soakBenchmark());

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof BenchmarkFailed)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exit(1); // pending work may wait for dead processes
}
