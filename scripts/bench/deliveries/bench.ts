import { type Scratch, withScratch } from "../../scratch/scratch.ts";
import type { Bench, Options } from "../bench.ts";
import { kilobyte, megabyte, pushPayload } from "../bodies.ts";
import {
  type Aims,
  compare,
  interleave,
  type Line,
  mediansOf,
  perSecond,
  ratioLegend,
} from "../comparison.ts";
import type { Load } from "../load/generator.ts";
import { startGenerator } from "../load/load.ts";
import { postJson } from "../load/request.ts";
import { measureLoads } from "../loads.ts";
import { measureBuilds } from "../servers/counter.ts";
import { startRedis } from "../servers/redis.ts";
import { builtLines } from "./built-lines.ts";
import { measureMessages, messageColumns, messages } from "./messages.ts";
import { measurePushes, pushColumns, pushSizes } from "./pushes.ts";
import { columns, startBare, startBuilders } from "./servers.ts";

interface Size {
  title: string;
  bytes: number;
  connections?: number;
  minSeconds?: number;
  key?: string;
  aims?: { rate?: Aims; p99?: Aims };
}

const p99 = { everysec: "≤ 1" };
const sizes: Record<string, Size> = {
  "1KB": { title: "1 KB", bytes: kilobyte, aims: { rate: { bare: "≥ 0.3", everysec: "≥ 1.1" }, p99 } },
  /** The others ignore it. */
  keyed: {
    title: "1 KB with an Idempotency-Key",
    bytes: kilobyte,
    key: "00000000-0000-0000-0000-000000000000",
  },
  "20KB": {
    title: "20 KB",
    bytes: 20 * kilobyte,
    aims: { rate: { bare: "≥ 0.18", everysec: "≥ 1.2" }, p99 },
  },
  // On a busy machine the hand-made server takes a second for its first answer.
  "1MB": {
    title: "1 MB",
    bytes: megabyte,
    connections: 8,
    minSeconds: 2,
    aims: { rate: { everysec: "≥ 2", always: "≥ 2" } },
  },
};
const courses: Record<string, { title: string; filter?: string; aims?: Aims }> = {
  builds: { title: "1 KB: builds/s, end to end", aims: { everysec: "≥ 3" } },
  /** All deliveries meet it, so that each is built. */
  filtered: {
    title: "1 KB with a filter: builds/s, end to end",
    filter: `webhook.payload.ref == "refs/heads/main" && !webhook.payload.repository.private`,
  },
};

/** Posts of a turn. */
const deliveriesOf = ({ quick }: Options) => (quick ? 200 : 5000);

export const deliveries: Bench = {
  name: "deliveries",
  summary: "webhooks accepted and built a second, beside bare h3 and a hand-made server",
  description: [
    "How many webhooks a second are accepted and built, beside two others.",
    "Bare h3 echoes a POST: what the framework and Node leave us.",
    "By hand is what one would write instead: fastify, a counter in Redis, and BullMQ with the payload in the job; " +
      "its worker makes each build in a transaction of its own. It is measured with a Redis that syncs its log once a " +
      "second (an accident loses that second) and with one that syncs before each answer (nothing is lost).",
    "Signalbox loses nothing either, by its database; its Redis syncs once a second.",
    "Pushes of a provider are measured beside the same requests to a GitHub trigger of the same installation.",
    "Builds with messages (a status at their commit, and a webhook of a notification service) are measured beside builds of " +
      "the same installation that nobody hears of.",
  ],
  parts: [...Object.keys(sizes), ...Object.keys(courses), ...Object.keys(pushSizes), messages],
  seconds: 2.5,
  rounds: 3,
  async measure(options, wanted) {
    const accepted = wanted.filter((name) => sizes[name]);
    const lines =
      accepted.length > 0 ? await withScratch((scratch) => measureAccepted(scratch, accepted, options)) : [];
    for (const name of wanted.filter((each) => courses[each]))
      lines.push(...(await withScratch((scratch) => measureBuilt(scratch, name, options))));
    const pushes = await withScratch((scratch) =>
      measurePushes(
        scratch,
        wanted.filter((name) => pushSizes[name]),
        { ...options, deliveries: deliveriesOf(options) },
      ),
    );
    const told = wanted.includes(messages)
      ? await withScratch((scratch) =>
          measureMessages(scratch, { ...options, deliveries: deliveriesOf(options) }),
        )
      : [];
    const tables = [
      ...(lines.length > 0 ? [compare(columns, lines)] : []),
      ...(pushes.length > 0 ? [compare(pushColumns, pushes)] : []),
      ...(told.length > 0 ? [compare(messageColumns, told)] : []),
    ];
    return { tables, legend: legendOf(options) };
  },
};

/** Measures servers without workers. */
async function measureAccepted(scratch: Scratch, names: string[], options: Options): Promise<Line[]> {
  const redis = await startRedis(scratch);
  const builders = await startBuilders(scratch, redis, { workers: false, postgres: options.postgres });
  const servers = [await startBare(scratch), ...builders];
  const track = { redis, servers, generator: startGenerator(scratch, options) };
  const lines: Line[] = [];
  for (const name of names) {
    const { title, bytes, connections = 50, minSeconds = 0, key, aims = {} } = sizes[name] as Size;
    const body = pushPayload(bytes);
    const load = ({ name: server, url }: (typeof servers)[number], seconds: number): Load => ({
      requests: [postJson(url, body, key === undefined ? {} : { "Idempotency-Key": key })],
      connections,
      uniqueText: key,
      until: { seconds: Math.max(seconds, minSeconds) },
      wanted: { status: server === "bare" ? 200 : 201 },
    });
    lines.push(...(await measureLoads(track, { title: `${title}: accepted`, load, aims }, options)));
  }
  return lines;
}

/** Measures from the first post until the last build. */
async function measureBuilt(scratch: Scratch, name: string, options: Options): Promise<Line[]> {
  const { title = "", filter, aims } = courses[name] ?? {};
  const { seconds, rounds, postgres } = options;
  const redis = await startRedis(scratch);
  const builders = await startBuilders(scratch, redis, { workers: true, filter, postgres });
  const generator = startGenerator(scratch, options);
  const body = pushPayload(kilobyte);
  const found = await interleave(builders, { rounds, title }, async (builder) => {
    await redis.setFsync(builder.fsync);
    const requests = [postJson(builder.url, body)];
    const post = (load: Pick<Load, "perSecond" | "until">) =>
      measureBuilds(builder, () =>
        generator({ requests, connections: 50, wanted: { status: 201 }, ...load }),
      );
    const full = await post({ until: { requests: deliveriesOf(options) } });
    return { full, half: await post({ perSecond: perSecond(full) / 2, until: { seconds } }) };
  });
  return builtLines(title, found, postgres ? {} : aims);
}

function legendOf(options: Options): string[] {
  const { seconds, rounds } = options;
  return [
    `${mediansOf(rounds)}: ${seconds} s a turn, ${deliveriesOf(options)} deliveries a turn of builds. The hand-made worker uses SQLite.`,
    ratioLegend,
    "CPU µs are of one request, by process.",
  ];
}
