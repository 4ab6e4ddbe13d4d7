import "../../shared/process/node-version.ts";
import { readFileSync, writeFileSync } from "node:fs";
import { Command } from "commander";
import { RunFailed } from "../scratch/scratch.ts";
import { agents } from "./agents/bench.ts";
import { benchCommand } from "./bench.ts";
import { deliveries } from "./deliveries/bench.ts";
import { device } from "./device/bench.ts";
import { fairness } from "./fairness/bench.ts";
import { growth } from "./growth/bench.ts";
import { fillBlocks, listResults, pageFile, readResult, renderResult } from "./results.ts";

const published = listResults();

const show = new Command("show")
  .summary("print results")
  .argument("[names...]", `some of ${published.join(", ")}`, published)
  .option("--write", "fill the blocks of the page with the published results instead")
  .action((names: string[], { write }: { write?: boolean }) => {
    if (write) writeFileSync(pageFile, fillBlocks(readFileSync(pageFile, "utf8")));
    else for (const name of names) process.stdout.write(`${renderResult(readResult(name))}\n`);
  });

/** `npm run bench -- <name>`: starts all servers on free ports, with scratch data and its own Redis. */
const program = new Command("bench")
  .usage("<benchmark> [options]")
  .description("Measure this program against what it could be compared with, side by side in one run.")
  .showHelpAfterError()
  .helpCommand(false)
  .addCommand(show);
for (const bench of [deliveries, device, agents, growth, fairness]) program.addCommand(benchCommand(bench));

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof RunFailed)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exit(1); // pending work may wait for dead processes
}
