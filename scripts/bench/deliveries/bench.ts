import { withScratch } from "../../scratch/scratch.ts";
import type { Bench, Options } from "../bench.ts";
import { compare, type Line } from "../comparison.ts";
import { measureAccepted, measureNeighbor, openTrack, type SizeName } from "./accepted.ts";
import { deliveriesOf, measureBuilds } from "./builds.ts";
import { type ContestantName, columns } from "./servers.ts";

const sizeNames: SizeName[] = ["1KB", "20KB", "1MB"];
const courseNames = ["builds", "filtered"] as const;
type Part = SizeName | "neighbor" | (typeof courseNames)[number];

export const deliveries: Bench<Part> = {
  name: "deliveries",
  summary: "webhooks accepted and built a second, beside bare h3 and a hand-made server",
  description: [
    "How many webhooks a second are accepted and built, beside two others.",
    "Bare h3 echoes a POST: what the framework and Node leave us.",
    "By hand is what one would write instead: fastify, a counter in Redis, and BullMQ with the payload in the job; " +
      "its worker makes each build in a transaction of its own. It is measured with a Redis that syncs its log once a " +
      "second (an accident loses that second) and with one that syncs before each answer (nothing is lost).",
    "Signalbox loses nothing either, by its database; its Redis syncs once a second.",
  ],
  parts: [...sizeNames, "neighbor", ...courseNames],
  seconds: 2.5,
  rounds: 3,
  async measure(options, wanted) {
    const lines = wanted.some((part) => part === "neighbor" || isSize(part))
      ? await withScratch(async (scratch) => {
          const track = await openTrack(scratch, options);
          const found: Line<ContestantName>[] = [];
          for (const size of wanted.filter(isSize))
            found.push(...(await measureAccepted(track, size, options)));
          if (wanted.includes("neighbor")) found.push(...(await measureNeighbor(track, options)));
          return found;
        })
      : [];
    for (const course of courseNames)
      if (wanted.includes(course)) lines.push(...(await measureBuilds(course, options)));
    return { tables: [compare(columns, lines)], legend: legendOf(options) };
  },
};

function isSize(part: Part): part is SizeName {
  return sizeNames.some((name) => name === part);
}

function legendOf(options: Options): string[] {
  const { seconds, rounds } = options;
  return [
    `Medians of ${rounds} rounds: ${seconds} s a turn, ${deliveriesOf(options)} deliveries a turn of builds. The hand-made worker uses SQLite.`,
    "÷ is Signalbox as a ratio to the other, within each round, then the median; in brackets its aim.",
    "CPU µs are of one request, by process.",
  ];
}
