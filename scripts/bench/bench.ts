import { join } from "node:path";
import { Command, Option } from "commander";
import { positive, wholeNumber } from "../scratch/options.ts";
import { step } from "../scratch/progress.ts";
import { findPostgres } from "./machine/cpu.ts";
import { describeMachine } from "./machine/describe.ts";
import { watchOtherLoad } from "./machine/other-load.ts";
import { renderResult, type Table, writeResult } from "./results.ts";

export interface Options {
  /** The length of a turn. */
  seconds: number;
  rounds: number;
  /** Allows CREATE DATABASE. Undefined: SQLite. */
  postgres?: string;
  quick?: boolean;
  /** Of the installations of `growth`. */
  rows: number[];
}

/** One question, answered side by side in turns. */
export interface Bench {
  name: string;
  summary: string;
  description: string[];
  /** `--only` picks some. */
  parts: string[];
  seconds: number;
  rounds: number;
  /** Options that no other bench has. */
  options?: Option[];
  measure(options: Options, wanted: string[]): Promise<{ tables: Table[]; legend: string[] }>;
}

const quick = { seconds: 0.3, rounds: 1, rows: [1000, 2000] };

/** Makes the command `npm run bench -- <name>`. */
export function benchCommand({ name, summary, description, options, ...bench }: Bench): Command {
  const command = new Command(name)
    .summary(summary)
    .description(description.join("\n\n"))
    .option("--seconds <number>", "how long a turn takes", positive, bench.seconds)
    .option("--rounds <number>", "how many turns each has", wholeNumber, bench.rounds)
    .option("--postgres <url>", "keep Signalbox's data on this Postgres, where databases can be made")
    .option("--quick", "one very short turn each: shows that it works, measures nothing")
    .option("--out <folder>", "where the result file goes", "bench-results")
    .addOption(new Option("--only <part...>", "measure only these").choices(bench.parts));
  for (const option of options ?? []) command.addOption(option);
  return command.action(async (given: Options & { only?: string[]; out: string }) => {
    const { postgres, only = bench.parts, out } = given;
    const machine = await describeMachine(postgres);
    const reportOthers = watchOtherLoad(Object.values(await findPostgres(postgres)));
    const wanted = bench.parts.filter((part) => only.includes(part));
    const { tables, legend } = await bench.measure(given.quick ? { ...given, ...quick } : given, wanted);
    const result = {
      name: postgres ? `${name}-postgres` : name,
      command: commandOf(postgres),
      machine,
      tables,
      legend: [`Signalbox keeps its data on ${postgres ? "Postgres" : "SQLite"}.`, ...legend],
      others: reportOthers(),
    };
    process.stdout.write(renderResult(result));
    step(`Written to ${join(writeResult(out, result))}`);
  });
}

/** Hides the address and password of the server. */
function commandOf(postgres = "\0"): string {
  const given = process.argv.slice(2).map((argument) => (argument.includes(postgres) ? "URL" : argument));
  return `npm run bench -- ${given.join(" ")}`;
}
