import { Command, Option } from "commander";
import { formatComparison, type Line } from "../comparison.ts";
import { describeMachine } from "../machine.ts";
import { positive, wholeNumber } from "../options.ts";
import { type ContestantName, columns } from "./contestants.ts";
import { type Lengths, measureAuthorizations, measureExchanges, measurePolls, withTrack } from "./measure.ts";

interface Options extends Lengths {
  only?: Part[];
}

const measures = { codes: measureAuthorizations, polls: measurePolls, exchanges: measureExchanges };
type Part = keyof typeof measures;
const parts = Object.keys(measures) as Part[];

const description = [
  "How many devices a second can ask for codes, poll, and fetch their tokens, beside oidc-provider.",
  "oidc-provider keeps everything in the memory of its process, for this benchmark in plain Maps; it limits " +
    "nothing, paces no polls and writes no log. Signalbox commits codes, grants and tokens to SQLite before it " +
    "answers, keeps its limits and the pace of polls in Redis, and writes a log line for every request.",
].join("\n\n");

/** `npm run bench -- device` */
export function deviceBenchmark(): Command {
  return new Command("device")
    .summary("devices signed in a second, beside oidc-provider")
    .description(description)
    .option("--seconds <number>", "how long a turn takes", positive, 2.5)
    .option("--rounds <number>", "how many turns each has", wholeNumber, 3)
    .option("--exchanges <number>", "how many codes are exchanged in a turn", wholeNumber, 2000)
    .addOption(new Option("--only <part...>", "measure only these").choices(parts))
    .action(run);
}

async function run(options: Options): Promise<void> {
  const machine = describeMachine();
  const wanted = parts.filter((part) => options.only?.includes(part) ?? true);
  const lines = await withTrack(async (track) => {
    const found: Line<ContestantName>[] = [];
    for (const part of wanted) found.push(...(await measures[part](track, options)));
    return found;
  });
  const table = formatComparison(columns, "signalbox", lines);
  process.stdout.write(`${machine}\n\n${table}\n\n${legend(options)}\n`);
}

function legend({ seconds, rounds, exchanges }: Options): string {
  return (
    `Medians of ${rounds} rounds: ${seconds} s a turn, ${exchanges} exchanges a turn. ÷ is Signalbox as a ratio to ` +
    "the other,\nwithin each round, then the median; in brackets what it should be."
  );
}
