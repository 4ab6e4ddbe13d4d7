import { Command, Option } from "commander";
import { jobsPerTransaction } from "../../../shared/dispatch/fan-out.ts";
import { formatComparison, type Line } from "../comparison.ts";
import { findPostgres } from "../databases.ts";
import { describeMachine } from "../machine/describe.ts";
import { watchOtherLoad } from "../machine/other-load.ts";
import { addLengths, shortenIfQuick, wholeNumber } from "../options.ts";
import { columnsOf, few, type SizeName, sizes } from "./contestants.ts";
import { measureEviction } from "./eviction.ts";
import { measureFanOut } from "./fan-out.ts";
import { measureDispatch, measureLists } from "./requests.ts";
import { type Track, withTrack } from "./track.ts";

interface Options {
  seconds: number;
  rounds: number;
  jobs: number;
  only?: Part[];
  postgres?: string;
  quick?: boolean;
}

/** Shorter than a large fan-out. */
const besideSeconds = 5;
/** Fan-outs take most of the time. */
const maxFanOutRounds = 2;

const description = [
  "The cost of many queues and waiting jobs: the same requests to a cluster with 100 queues and 100 jobs " +
    "waiting on one of them, and to one with 10,000 queues and 100,000 jobs.",
  "Then how a worker tells those jobs that their queue is paused, batch by batch, and what webhooks that arrive " +
    "meanwhile notice of it; and the same of an eviction of as many payloads.",
].join("\n\n");

const beside = ({ seconds }: Options) => Math.min(besideSeconds, seconds * besideSeconds);
const measures = {
  lists: measureLists,
  dispatch: measureDispatch,
  "fan-out": (track: Track, options: Options) =>
    measureFanOut(track, {
      rounds: Math.min(options.rounds, maxFanOutRounds),
      besideSeconds: beside(options),
    }),
  eviction: (track: Track, options: Options) => measureEviction(track, { besideSeconds: beside(options) }),
};
type Part = keyof typeof measures;
const parts = Object.keys(measures) as Part[];

export function queuesBenchmark(): Command {
  const command = new Command("queues")
    .summary("queues listed, paused and resumed, with few and with many of them")
    .description(description);
  return addLengths(command, { seconds: 1, rounds: 3 })
    .option("--jobs <number>", "how many wait on a queue, and payloads are evicted", wholeNumber, 100_000)
    .addOption(new Option("--only <part...>", "measure only these").choices(parts))
    .option(
      "--postgres <url>",
      "measure on this Postgres afterwards, where databases can be made: two minutes more",
    )
    .action(run);
}

async function run(given: Options): Promise<void> {
  const options = shortenIfQuick(given, few);
  sizes.large = options.quick ? few : { ...sizes.large, jobs: options.jobs };
  const otherLoad = watchOtherLoad(Object.values(await findPostgres(options.postgres)));
  process.stdout.write(`${await describeMachine(options.postgres)}\n`);
  process.stdout.write(`\nSQLite\n${await measure(options, undefined)}\n`);
  if (options.postgres) process.stdout.write(`\nPostgres\n${await measure(options, options.postgres)}\n`);
  process.stdout.write(`\n${legend(options)}\n${otherLoad.report()}\n`);
}

function measure(options: Options, postgres: string | undefined): Promise<string> {
  return withTrack(postgres, async (track) => {
    const lines: Line<SizeName>[] = [];
    for (const part of parts)
      if (options.only?.includes(part) ?? true) lines.push(...(await measures[part](track, options)));
    return formatComparison(columnsOf(), "large", lines);
  });
}

function legend({ seconds, rounds }: Options): string {
  return (
    `Medians of ${rounds} rounds: ${seconds} s a turn of requests, one at a time, then on 20 connections; the fan-out in ` +
    `${Math.min(rounds, maxFanOutRounds)}, beside 100 webhooks a second,\nat most ${jobsPerTransaction} jobs and their builds ` +
    "in a transaction. ÷ is large as a ratio to small, within each round, then\nthe median; in brackets what it should be."
  );
}
