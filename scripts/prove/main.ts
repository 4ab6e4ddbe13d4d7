import "../../shared/process/node-version.ts";
import { randomInt } from "node:crypto";
import { Command, Option } from "commander";
import { positive, wholeNumber } from "../scratch/options.ts";
import { RunFailed, withScratch } from "../scratch/scratch.ts";
import { containerFaults } from "./containers/faults.ts";
import { allFaults } from "./faults/table.ts";
import { tryMutants } from "./mutants/run.ts";
import { mutants } from "./mutants/table.ts";
import { formatReport } from "./report.ts";
import { type ProveOptions, prove } from "./run.ts";

const split = (names: string): string[] => names.split(",");
const listKinds = (kinds: { kind: string; summary: string }[]): string[] =>
  kinds.map(({ kind, summary }) => `  ${kind.padEnd(20)} ${summary}`);
const lasting = "how long to inject faults; up to three times as long while too little has come through";
const onlyThese =
  "inject only these, separated by commas; none: sample memory, descriptors, keys, log and disk instead";
const ofMutants = mutants.map(({ name, summary }) => ({ kind: name, summary }));
const database = new Option("--database <name>", "where the installation keeps its data");

/** `npm run prove`: starts all servers on free ports, with scratch data. */
const program = new Command("prove")
  .description(
    "Start an installation, call it as senders, devices and operators do, inject faults meanwhile, and compare the " +
      "answers that callers got with the rows of the database. Exits with 1 on any discrepancy.",
  )
  .option("--minutes <number>", lasting, positive, 5)
  .option("--seed <number>", "repeats the faults of a run; default: a random one", wholeNumber)
  .addOption(database.choices(["sqlite", "postgres"]).default("sqlite"))
  .option("--compose <project>", "prove the containers of compose.yaml; the project is left running")
  .option("--faults <kinds>", onlyThese, (kinds) => (kinds === "none" ? [] : split(kinds)))
  .option("--per-second <number>", "faults to inject a second; default: 2, or 0.5 for containers", positive)
  .option("--patience <seconds>", "how long all may take to end after the last fault", positive, 180)
  .option("--logs <folder>", "keep the output of the processes")
  .option("--mutants [names]", "run faulty copies of the program instead, and show that each is found", split)
  .addHelpText("after", ["", "Faults:", ...listKinds(allFaults)].join("\n"))
  .addHelpText("after", ["", "Faults of containers:", ...listKinds(containerFaults)].join("\n"))
  .addHelpText(
    "after",
    ["", "Mutants, each with a seed and faults of its own:", ...listKinds(ofMutants)].join("\n"),
  )
  .showHelpAfterError()
  .parse();

type Given = Omit<ProveOptions, "perSecond" | "seed"> & {
  perSecond?: number;
  seed?: number;
  mutants?: true | string[];
};

try {
  const given = program.opts<Given>();
  if (given.mutants) {
    const areFound = await tryMutants(given.mutants === true ? undefined : given.mutants);
    process.exit(areFound ? 0 : 1);
  }
  const known: { kind: string }[] = given.compose ? containerFaults : allFaults;
  const unknown = given.faults?.find((name) => known.every(({ kind }) => kind !== name));
  if (given.compose && given.faults?.length === 0)
    program.error("--faults none samples processes of this machine, not containers.");
  if (unknown) program.error(`There is no fault ${unknown}.`);
  const defaults = { seed: randomInt(1, 2 ** 31), perSecond: given.compose ? 0.5 : 2 };
  const options = { ...defaults, ...given };
  const proved = await withScratch((scratch) => prove(scratch, options));
  process.stdout.write(formatReport(proved, options));
  process.exit(proved.discrepancies.length > 0 ? 1 : 0);
} catch (error) {
  if (!(error instanceof RunFailed)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exit(1); // pending work may wait for dead processes
}
