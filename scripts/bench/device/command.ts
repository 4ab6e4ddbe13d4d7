import { Command, Option } from "commander";
import { formatComparison, type Line } from "../comparison.ts";
import { findPostgres } from "../databases.ts";
import { describeMachine } from "../machine/describe.ts";
import { watchOtherLoad } from "../machine/other-load.ts";
import { addLengths, shortenIfQuick, wholeNumber } from "../options.ts";
import { type ContestantName, columns } from "./contestants.ts";
import { type Lengths, measureAuthorizations, measureExchanges, measurePolls, withTrack } from "./measure.ts";

interface Options extends Lengths {
  only?: Part[];
  quick?: boolean;
}

const measures = { codes: measureAuthorizations, polls: measurePolls, exchanges: measureExchanges };
type Part = keyof typeof measures;
const parts = Object.keys(measures) as Part[];

const description = [
  "How many devices a second can ask for codes, poll, and fetch their tokens, beside oidc-provider.",
  "oidc-provider keeps everything in the memory of its process, for this benchmark in plain Maps; it limits " +
    "nothing, paces no polls and writes no log. Signalbox commits codes, grants and tokens to its database before it " +
    "answers, keeps its limits and the pace of polls in Redis, and writes a log line for every request.",
].join("\n\n");

export function deviceBenchmark(): Command {
  const command = new Command("device")
    .summary("devices signed in a second, beside oidc-provider")
    .description(description);
  return addLengths(command, { seconds: 2.5, rounds: 3 })
    .option("--exchanges <number>", "how many codes are exchanged in a turn", wholeNumber, 2000)
    .option("--postgres <url>", "keep Signalbox's data on this Postgres, where databases can be made")
    .addOption(new Option("--only <part...>", "measure only these").choices(parts))
    .action(run);
}

async function run(given: Options): Promise<void> {
  const options = shortenIfQuick(given, { exchanges: 100 });
  const machine = await describeMachine(options.postgres);
  const otherLoad = watchOtherLoad(Object.values(await findPostgres(options.postgres)));
  const wanted = parts.filter((part) => options.only?.includes(part) ?? true);
  const lines = await withTrack(options.postgres, async (track) => {
    const found: Line<ContestantName>[] = [];
    for (const part of wanted) found.push(...(await measures[part](track, options)));
    return found;
  });
  const table = formatComparison(columns, "signalbox", lines);
  process.stdout.write(`${machine}\n\n${table}\n\n${legend(options)}\n${otherLoad.report()}\n`);
}

function legend({ seconds, rounds, exchanges, postgres }: Options): string {
  return (
    `Signalbox keeps its data on ${postgres ? "Postgres" : "SQLite"}.\n` +
    `Medians of ${rounds} rounds: ${seconds} s a turn, ${exchanges} exchanges a turn. ÷ is Signalbox as a ratio to ` +
    "the other,\nwithin each round, then the median; in brackets what it should be. CPU µs are of one request, by process."
  );
}
