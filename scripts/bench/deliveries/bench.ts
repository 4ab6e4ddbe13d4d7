import { type Scratch, withScratch } from "../../scratch/scratch.ts";
import type { Bench, Options } from "../bench.ts";
import { kilobyte, megabyte, pushPayload } from "../bodies.ts";
import { compare, type Line, mediansOf, ratioLegend } from "../comparison.ts";
import { startGenerator } from "../load/load.ts";
import { type PlainRequest, postJson } from "../load/request.ts";
import { measureLoads } from "../loads.ts";
import { slowSyncs } from "../machine/slow-syncs.ts";
import { startRedis } from "../redis.ts";
import { deliveriesOf, measureBuilds } from "./builds.ts";
import { type ContestantName, columns, type Server, startBare, startBuilders } from "./servers.ts";

const p99 = { everysec: "≤ 1" };
const anyKey = "00000000-0000-0000-0000-000000000000";
const sizes = {
  "1KB": {
    ...{ title: "1 KB", bytes: kilobyte, connections: 50, minSeconds: 0 },
    aims: { rate: { bare: "≥ 0.3", everysec: "≥ 1.1" }, p99 },
  },
  /** The others ignore it. */
  keyed: {
    ...{ title: "1 KB with an Idempotency-Key", bytes: kilobyte, connections: 50, minSeconds: 0 },
    aims: {},
  },
  "20KB": {
    ...{ title: "20 KB", bytes: 20 * kilobyte, connections: 50, minSeconds: 0 },
    aims: { rate: { bare: "≥ 0.18", everysec: "≥ 1.2" }, p99 },
  },
  // On a busy machine the hand-made server takes a second for its first answer.
  "1MB": {
    ...{ title: "1 MB", bytes: megabyte, connections: 8, minSeconds: 2 },
    aims: { rate: { everysec: "≥ 2", always: "≥ 2" } },
  },
};
type SizeName = keyof typeof sizes;
const sizeNames = Object.keys(sizes) as SizeName[];
const courseNames = ["builds", "filtered"] as const;

export const deliveries: Bench<SizeName | (typeof courseNames)[number]> = {
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
  parts: [...sizeNames, ...courseNames],
  seconds: 2.5,
  rounds: 3,
  async measure(options, wanted) {
    const wantedSizes = sizeNames.filter((name) => wanted.includes(name));
    const lines =
      wantedSizes.length > 0
        ? await withScratch((scratch) => measureAccepted(scratch, wantedSizes, options))
        : [];
    for (const course of courseNames)
      if (wanted.includes(course)) lines.push(...(await measureBuilds(course, options)));
    return { tables: [compare(columns, lines)], legend: legendOf(options) };
  },
};

/** Measures servers without workers. */
async function measureAccepted(
  scratch: Scratch,
  names: SizeName[],
  options: Options,
): Promise<Line<ContestantName>[]> {
  if (options.syncMs) slowSyncs(scratch, options.syncMs);
  const redis = await startRedis(scratch);
  const builders = await startBuilders(scratch, redis, { workers: false, postgres: options.postgres });
  const servers: Server[] = [await startBare(scratch), ...builders];
  const track = { redis, servers, generator: startGenerator(scratch, options) };
  const lines: Line<ContestantName>[] = [];
  for (const name of names) {
    const { title, bytes, connections, minSeconds, aims } = sizes[name];
    const body = pushPayload(bytes);
    const load = ({ name: server, url }: Server, seconds: number) => ({
      requests: [name === "keyed" ? withKey(postJson(url, body)) : postJson(url, body)],
      connections,
      uniqueText: name === "keyed" ? anyKey : undefined,
      wanted: { status: server === "bare" ? 200 : 201 },
      until: { seconds: Math.max(seconds, minSeconds) },
    });
    lines.push(
      ...(await measureLoads<ContestantName, Server>(
        track,
        { title: `${title}: accepted`, load, aims },
        options,
      )),
    );
  }
  return lines;
}

function withKey(request: PlainRequest): PlainRequest {
  return { ...request, headers: { ...request.headers, "Idempotency-Key": anyKey } };
}

function legendOf(options: Options): string[] {
  const { seconds, rounds, syncMs } = options;
  return [
    ...(syncMs ? [`Each sync of a file takes ${syncMs} ms longer, of all servers and of Redis.`] : []),
    `${mediansOf(rounds)}: ${seconds} s a turn, ${deliveriesOf(options)} deliveries a turn of builds. The hand-made worker uses SQLite.`,
    ratioLegend,
    "CPU µs are of one request, by process.",
  ];
}
