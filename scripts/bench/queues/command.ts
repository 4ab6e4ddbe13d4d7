import { Command } from "commander";
import { jobsPerTransaction } from "../../../shared/dispatch/fan-out.ts";
import { formatComparison } from "../comparison.ts";
import { describeMachine } from "../machine.ts";
import { positive, wholeNumber } from "../options.ts";
import { columns } from "./contestants.ts";
import { measureFanOut } from "./fan-out.ts";
import { measureDispatch, measureLists } from "./requests.ts";
import { withTrack } from "./track.ts";

interface Options {
  seconds: number;
  rounds: number;
  postgres?: string;
}

/** Shorter than a large fan-out. */
const besideSeconds = 5;
/** Fan-outs take most of the time. */
const maxFanOutRounds = 2;

const description = [
  "What the number of queues and waiting jobs costs: the same requests to a cluster with 100 queues and 100 jobs " +
    "waiting on one of them, and to one with 10,000 queues and 100,000 jobs.",
  "Then how a worker tells those jobs that their queue is paused, batch by batch, and what webhooks that arrive " +
    "meanwhile notice of it.",
].join("\n\n");

export function queuesBenchmark(): Command {
  return new Command("queues")
    .summary("queues listed, paused and resumed, with few and with many of them")
    .description(description)
    .option("--seconds <number>", "how long a turn of requests takes", positive, 1)
    .option("--rounds <number>", "how many turns each has", wholeNumber, 3)
    .option(
      "--postgres <url>",
      "measure on this Postgres afterwards, where databases can be made: two minutes more",
    )
    .action(run);
}

async function run(options: Options): Promise<void> {
  process.stdout.write(`${describeMachine()}\n`);
  process.stdout.write(`\nSQLite\n${await measure(options, undefined)}\n`);
  if (options.postgres) process.stdout.write(`\nPostgres\n${await measure(options, options.postgres)}\n`);
  process.stdout.write(`\n${legend(options)}\n`);
}

function measure(options: Options, postgres: string | undefined): Promise<string> {
  return withTrack(postgres, async (track) => {
    const lists = await measureLists(track, options);
    const dispatch = await measureDispatch(track, options);
    const fanOut = await measureFanOut(track, {
      rounds: Math.min(options.rounds, maxFanOutRounds),
      besideSeconds,
    });
    return formatComparison(columns, "large", [...lists, ...dispatch, ...fanOut]);
  });
}

function legend({ seconds, rounds }: Options): string {
  return (
    `Medians of ${rounds} rounds: ${seconds} s a turn of requests, one at a time; the fan-out in ` +
    `${Math.min(rounds, maxFanOutRounds)}, beside 100 webhooks a second,\nat most ${jobsPerTransaction} jobs and their builds ` +
    "in a transaction. ÷ is large as a ratio to small, within each round, then\nthe median; in brackets what it should be."
  );
}
