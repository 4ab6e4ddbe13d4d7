import "../../shared/runtime/node-version.ts";
import { randomInt } from "node:crypto";
import { Command, InvalidArgumentError, Option } from "commander";
import { positive, wholeNumber } from "../bench/options.ts";
import { BenchmarkFailed, withScratch } from "../bench/scratch.ts";
import type { Fault } from "./faults/fault.ts";
import { allFaults } from "./faults/table.ts";
import { formatReport } from "./report.ts";
import { type ProveOptions, prove } from "./run.ts";

/** `npm run prove`: starts all servers on free ports, with scratch data. */
const program = new Command("prove")
  .description(
    "Start an installation, call it as senders, devices and operators do, inject faults all the while, and compare " +
      "what callers were answered with what the database says. Exits with 1 on any discrepancy.",
  )
  .option("--minutes <number>", "how long to inject faults", positive, 5)
  .option("--seed <number>", "repeats the faults of a run", wholeNumber, randomInt(1, 2 ** 31))
  .addOption(new Option("--database <name>").choices(["sqlite", "postgres"]).default("sqlite"))
  .option("--faults <kinds>", "only these, with commas between", faultsNamed)
  .option("--per-second <number>", "how many faults to inject", positive, 2)
  .option("--logs <folder>", "keep the output of the processes")
  .addHelpText("after", ["", "Faults:", ...allFaults.map(helpLine)].join("\n"))
  .showHelpAfterError()
  .parse();

try {
  const options: ProveOptions = { faults: allFaults, ...program.opts<Omit<ProveOptions, "faults">>() };
  const proved = await withScratch((scratch) => prove(scratch, options));
  process.stdout.write(formatReport(proved, options));
  process.exit(proved.discrepancies.length > 0 ? 1 : 0);
} catch (error) {
  if (!(error instanceof BenchmarkFailed)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exit(1); // pending work may wait for dead processes
}

function faultsNamed(text: string): Fault[] {
  return text.split(",").map((name) => {
    const fault = allFaults.find(({ kind }) => kind === name);
    if (!fault) throw new InvalidArgumentError(`There is no fault ${name}.`);
    return fault;
  });
}

function helpLine({ kind, summary }: Fault): string {
  return `  ${kind.padEnd(20)} ${summary}`;
}
