import "../../shared/process/node-version.ts";
import { randomInt } from "node:crypto";
import { Command, Option } from "commander";
import { positive, wholeNumber } from "../bench/options.ts";
import { RunFailed, withScratch } from "../scratch/scratch.ts";
import { containerFaults } from "./containers/faults.ts";
import { allFaults } from "./faults/table.ts";
import { chooseMutants, formatTried, tryMutant } from "./mutants/run.ts";
import { mutants } from "./mutants/table.ts";
import { formatReport } from "./report.ts";
import { type ProveOptions, prove } from "./run.ts";

const perSecondDefaults = { processes: 2, containers: 0.5 };

/** `npm run prove`: starts all servers on free ports, with scratch data. */
const program = new Command("prove")
  .description(
    "Start an installation, call it as senders, devices and operators do, inject faults meanwhile, and compare the " +
      "answers that callers got with the rows of the database. Exits with 1 on any discrepancy.",
  )
  .option(
    "--minutes <number>",
    "how long to inject faults; up to three times as long while too little has come through",
    positive,
    5,
  )
  .option("--seed <number>", "repeats the faults of a run; default: a random one", wholeNumber)
  .addOption(
    new Option("--database <name>", "where the installation keeps its data")
      .choices(["sqlite", "postgres"])
      .default("sqlite"),
  )
  .option("--compose <project>", "prove the containers of compose.yaml; the project is left running")
  .option(
    "--faults <kinds>",
    "inject only these, separated by commas; none: sample memory, descriptors, keys, log and disk instead",
    (kinds: string) => (kinds === "none" ? [] : split(kinds)),
  )
  .option("--per-second <number>", "faults to inject a second; default: 2, or 0.5 for containers", positive)
  .option("--patience <seconds>", "how long all may take to end after the last fault", positive, 180)
  .option("--logs <folder>", "keep the output of the processes")
  .option("--bundle <folder>", "run what scripts/deploy/bundle.ts made there, not the sources: faster starts")
  .option("--mutants [names]", "run faulty copies of the program instead, and show that each is found", split)
  .addHelpText(
    "after",
    [
      "",
      "Faults:",
      ...allFaults.map(helpLine),
      "",
      "Faults of containers:",
      ...containerFaults.map(helpLine),
      "",
      "Mutants, each with a seed and faults of its own:",
      ...mutants.map(({ name, summary }) => helpLine({ kind: name, summary })),
    ].join("\n"),
  )
  .showHelpAfterError()
  .parse();

try {
  const given = program.opts<
    Omit<ProveOptions, "perSecond" | "seed"> & {
      perSecond?: number;
      seed?: number;
      mutants?: true | string[];
    }
  >();
  if (given.mutants) {
    const tried = await tryMutants(given.mutants === true ? undefined : given.mutants);
    process.exit(tried.every(({ found }) => found) ? 0 : 1);
  }
  const known: { kind: string }[] = given.compose ? containerFaults : allFaults;
  const unknown = given.faults?.find((name) => known.every(({ kind }) => kind !== name));
  if (given.compose && given.faults?.length === 0)
    program.error("--faults none samples processes of this machine, not containers.");
  if (unknown) program.error(`There is no fault ${unknown}.`);
  const { processes, containers } = perSecondDefaults;
  const options = {
    ...given,
    seed: given.seed ?? randomInt(1, 2 ** 31),
    perSecond: given.perSecond ?? (given.compose ? containers : processes),
  };
  const proved = await withScratch((scratch) => prove(scratch, options));
  process.stdout.write(formatReport(proved, options));
  process.exit(proved.discrepancies.length > 0 ? 1 : 0);
} catch (error) {
  if (!(error instanceof RunFailed)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exit(1); // pending work may wait for dead processes
}

async function tryMutants(names: string[] | undefined) {
  const tried = [];
  for (const mutant of chooseMutants(names)) {
    const result = await withScratch((scratch) => tryMutant(scratch, mutant));
    process.stdout.write(`${formatTried(result)}\n`);
    tried.push(result);
  }
  return tried;
}

function split(names: string): string[] {
  return names.split(",");
}

function helpLine({ kind, summary }: { kind: string; summary: string }): string {
  return `  ${kind.padEnd(20)} ${summary}`;
}
