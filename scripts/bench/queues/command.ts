import { Command } from "commander";
import { jobsPerTransaction } from "../../../shared/dispatch/fan-out.ts";
import { formatComparison } from "../comparison.ts";
import { findPostgres } from "../databases.ts";
import { describeMachine } from "../machine/describe.ts";
import { watchOtherLoad } from "../machine/other-load.ts";
import { addLengths, shortenIfQuick } from "../options.ts";
import { columnsOf, useFewRows } from "./contestants.ts";
import { measureFanOut } from "./fan-out.ts";
import { measureDispatch, measureLists } from "./requests.ts";
import { withTrack } from "./track.ts";

interface Options {
  seconds: number;
  rounds: number;
  postgres?: string;
  quick?: boolean;
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
  const command = new Command("queues")
    .summary("queues listed, paused and resumed, with few and with many of them")
    .description(description);
  return addLengths(command, { seconds: 1, rounds: 3 })
    .option(
      "--postgres <url>",
      "measure on this Postgres afterwards, where databases can be made: two minutes more",
    )
    .action(run);
}

async function run(given: Options): Promise<void> {
  const options = shortenIfQuick(given);
  if (options.quick) useFewRows();
  const otherLoad = watchOtherLoad(Object.values(await findPostgres(options.postgres)));
  process.stdout.write(`${await describeMachine(options.postgres)}\n`);
  process.stdout.write(`\nSQLite\n${await measure(options, undefined)}\n`);
  if (options.postgres) process.stdout.write(`\nPostgres\n${await measure(options, options.postgres)}\n`);
  process.stdout.write(`\n${legend(options)}\n${otherLoad.report()}\n`);
}

function measure(options: Options, postgres: string | undefined): Promise<string> {
  return withTrack(postgres, async (track) => {
    const lists = await measureLists(track, options);
    const dispatch = await measureDispatch(track, options);
    const fanOut = await measureFanOut(track, {
      rounds: Math.min(options.rounds, maxFanOutRounds),
      besideSeconds: Math.min(besideSeconds, options.seconds * besideSeconds),
    });
    return formatComparison(columnsOf(), "large", [...lists, ...dispatch, ...fanOut]);
  });
}

function legend({ seconds, rounds }: Options): string {
  return (
    `Medians of ${rounds} rounds: ${seconds} s a turn of requests, one at a time, then on 20 connections; the fan-out in ` +
    `${Math.min(rounds, maxFanOutRounds)}, beside 100 webhooks a second,\nat most ${jobsPerTransaction} jobs and their builds ` +
    "in a transaction. ÷ is large as a ratio to small, within each round, then\nthe median; in brackets what it should be."
  );
}
