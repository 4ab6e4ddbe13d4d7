import { Command, Option } from "commander";
import { formatComparison, type Line } from "../comparison.ts";
import { describeMachine } from "../machine.ts";
import { positive, wholeNumber } from "../options.ts";
import { measureAccepted } from "./accepted.ts";
import { measureBuilds } from "./builds.ts";
import { type ContestantName, columns } from "./contestants.ts";
import { measureNeighbour } from "./neighbour.ts";
import { withTrack } from "./track.ts";

interface Options {
  seconds: number;
  rounds: number;
  deliveries: number;
  only?: Part[];
}

const parts = ["1KB", "20KB", "1MB", "neighbour", "builds"] as const;
type Part = (typeof parts)[number];

const description = [
  "How many webhooks a second are accepted and built, beside two others.",
  "Bare h3 echoes a POST: what the framework and Node leave us.",
  "By hand is what one would write instead: fastify, a counter in Redis, and BullMQ with the payload in the job; " +
    "its worker makes each build in a transaction of its own. It is measured with a Redis that syncs its log once a " +
    "second (an accident loses that second) and with one that syncs before each answer (nothing is lost).",
  "Signalbox loses nothing either, by its database; its Redis syncs once a second.",
].join("\n\n");

/** `npm run bench -- deliveries` */
export function deliveriesBenchmark(): Command {
  const only = new Option("--only <part...>", "measure only these").choices(parts);
  return new Command("deliveries")
    .summary("webhooks accepted and built a second, beside bare h3 and a hand-made server")
    .description(description)
    .option("--seconds <number>", "how long a turn takes", positive, 2.5)
    .option("--rounds <number>", "how many turns each has", wholeNumber, 3)
    .option("--deliveries <number>", "how many are posted in a turn of builds", wholeNumber, 5000)
    .addOption(only)
    .action(run);
}

async function run(options: Options): Promise<void> {
  const machine = describeMachine();
  const lines = await measure(new Set(options.only ?? parts), options);
  const table = formatComparison(columns, "signalbox", lines);
  process.stdout.write(`${machine}\n\n${table}\n\n${legend(options)}\n`);
}

async function measure(wanted: Set<Part>, options: Options): Promise<Line<ContestantName>[]> {
  const lines: Line<ContestantName>[] = [];
  const sizes = (["1KB", "20KB", "1MB"] as const).filter((name) => wanted.has(name));
  if (sizes.length > 0 || wanted.has("neighbour")) {
    await withTrack(async (track) => {
      for (const size of sizes) lines.push(...(await measureAccepted(track, size, options)));
      if (wanted.has("neighbour")) lines.push(...(await measureNeighbour(track, options)));
    });
  }
  if (wanted.has("builds")) lines.push(...(await measureBuilds(options)));
  return lines;
}

function legend({ seconds, rounds, deliveries }: Options): string {
  return (
    `Medians of ${rounds} rounds: ${seconds} s a turn, ${deliveries} deliveries a turn of builds. ` +
    "÷ is Signalbox as a ratio to the other,\nwithin each round, then the median; in brackets what it should be."
  );
}
