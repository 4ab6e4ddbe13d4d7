import { Command, Option } from "commander";
import { formatComparison, type Line } from "../comparison.ts";
import { findPostgres } from "../databases.ts";
import { describeMachine } from "../machine/describe.ts";
import { watchOtherLoad } from "../machine/other-load.ts";
import { addLengths, shortenIfQuick, wholeNumber } from "../options.ts";
import { measureAccepted } from "./accepted.ts";
import { measureBuilds, measureFilteredBuilds } from "./builds.ts";
import { type ContestantName, columns } from "./contestants.ts";
import { measureNeighbor } from "./neighbor.ts";
import { withTrack } from "./track.ts";

interface Options {
  seconds: number;
  rounds: number;
  deliveries: number;
  only?: Part[];
  postgres?: string;
  quick?: boolean;
}

const parts = ["1KB", "20KB", "1MB", "neighbor", "builds", "filtered"] as const;
type Part = (typeof parts)[number];

const description = [
  "How many webhooks a second are accepted and built, beside two others.",
  "Bare h3 echoes a POST: what the framework and Node leave us.",
  "By hand is what one would write instead: fastify, a counter in Redis, and BullMQ with the payload in the job; " +
    "its worker makes each build in a transaction of its own. It is measured with a Redis that syncs its log once a " +
    "second (an accident loses that second) and with one that syncs before each answer (nothing is lost).",
  "Signalbox loses nothing either, by its database; its Redis syncs once a second.",
].join("\n\n");

export function deliveriesBenchmark(): Command {
  const only = new Option("--only <part...>", "measure only these").choices(parts);
  const command = new Command("deliveries")
    .summary("webhooks accepted and built a second, beside bare h3 and a hand-made server")
    .description(description);
  return addLengths(command, { seconds: 2.5, rounds: 3 })
    .option("--deliveries <number>", "how many are posted in a turn of builds", wholeNumber, 5000)
    .option("--postgres <url>", "keep Signalbox's data on this Postgres, where databases can be made")
    .addOption(only)
    .action(run);
}

async function run(given: Options): Promise<void> {
  const options = shortenIfQuick(given, { deliveries: 200 });
  const machine = await describeMachine(options.postgres);
  const otherLoad = watchOtherLoad(Object.values(await findPostgres(options.postgres)));
  const lines = await measure(new Set(options.only ?? parts), options);
  const table = formatComparison(columns, "signalbox", lines);
  process.stdout.write(`${machine}\n\n${table}\n\n${legend(options)}\n${otherLoad.report()}\n`);
}

async function measure(wanted: Set<Part>, options: Options): Promise<Line<ContestantName>[]> {
  const lines: Line<ContestantName>[] = [];
  const sizes = (["1KB", "20KB", "1MB"] as const).filter((name) => wanted.has(name));
  if (sizes.length > 0 || wanted.has("neighbor")) {
    await withTrack(options, async (track) => {
      for (const size of sizes) lines.push(...(await measureAccepted(track, size, options)));
      if (wanted.has("neighbor")) lines.push(...(await measureNeighbor(track, options)));
    });
  }
  if (wanted.has("builds")) lines.push(...(await measureBuilds(options)));
  if (wanted.has("filtered")) lines.push(...(await measureFilteredBuilds(options)));
  return lines;
}

function legend({ seconds, rounds, deliveries, postgres }: Options): string {
  return (
    `Signalbox keeps its data on ${postgres ? "Postgres" : "SQLite"}; the hand-made worker on SQLite.\n` +
    `Medians of ${rounds} rounds: ${seconds} s a turn, ${deliveries} deliveries a turn of builds. ` +
    "÷ is Signalbox as a ratio to the other,\nwithin each round, then the median; in brackets what it should be. CPU µs are of one request, by process."
  );
}
