import { join } from "node:path";
import { Command, Option } from "commander";
import { step } from "../scratch/progress.ts";
import { findPostgres } from "./machine/cpu.ts";
import { describeMachine } from "./machine/describe.ts";
import { watchOtherLoad } from "./machine/other-load.ts";
import { positive, wholeNumber, wholeNumbers } from "./options.ts";
import { renderResult, type Table, writeResult } from "./results.ts";

export interface Options {
  /** The length of a turn. */
  seconds: number;
  rounds: number;
  /** Allows CREATE DATABASE. Undefined: SQLite. */
  postgres?: string;
  quick?: boolean;
  /** Added to each sync of a file. Only of `deliveries`. */
  syncMs?: number;
  /** Of the installations of `growth`. */
  rows: number[];
}

/** One question, answered side by side in turns. */
export interface Bench<Part extends string> {
  name: string;
  summary: string;
  description: string[];
  /** `--only` picks some. */
  parts: readonly Part[];
  seconds: number;
  rounds: number;
  measure(options: Options, wanted: Part[]): Promise<{ tables: Table[]; legend: string[] }>;
}

const defaultRows = [1000, 100_000, 1_000_000];
const quick = { seconds: 0.3, rounds: 1, rows: [1000, 2000] };

/** Makes the command `npm run bench -- <name>`. */
export function benchCommand<Part extends string>(bench: Bench<Part>): Command {
  const { name, summary, description, parts, seconds, rounds } = bench;
  const command = new Command(name)
    .summary(summary)
    .description(description.join("\n\n"))
    .option("--seconds <number>", "how long a turn takes", positive, seconds)
    .option("--rounds <number>", "how many turns each has", wholeNumber, rounds)
    .option("--postgres <url>", "keep Signalbox's data on this Postgres, where databases can be made")
    .option("--quick", "one very short turn each: shows that it works, measures nothing")
    .option("--out <folder>", "where the result file goes", "bench-results")
    .addOption(new Option("--only <part...>", "measure only these").choices(parts));
  if (name === "growth")
    command.option("--rows <numbers>", "of each installation, with commas", wholeNumbers, defaultRows);
  if (name === "deliveries")
    command.option(
      "--sync-ms <number>",
      "makes each sync of a file take longer, as a slower disk would",
      positive,
    );
  return command.action(async (given: Options & { only?: Part[]; out: string }) => {
    const options = given.quick ? { ...given, ...quick } : given;
    const { postgres, only, out } = options;
    const machine = await describeMachine(postgres);
    const otherLoad = watchOtherLoad(Object.values(await findPostgres(postgres)));
    const wanted = parts.filter((part) => only?.includes(part) ?? true);
    const { tables, legend } = await bench.measure(options, wanted);
    const result = {
      name: postgres ? `${name}-postgres` : name,
      command: commandOf(postgres),
      machine,
      tables,
      legend: [`Signalbox keeps its data on ${postgres ? "Postgres" : "SQLite"}.`, ...legend],
      others: otherLoad.report(),
    };
    process.stdout.write(renderResult(result));
    step(`Written to ${join(writeResult(out, result))}`);
  });
}

/** Hides the address and password of the server. */
function commandOf(postgres: string | undefined): string {
  const given = process.argv
    .slice(2)
    .map((argument) => (argument.includes(postgres ?? "\0") ? "URL" : argument));
  return `npm run bench -- ${given.join(" ")}`;
}
