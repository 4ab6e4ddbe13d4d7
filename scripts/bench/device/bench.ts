import { withScratch } from "../../scratch/scratch.ts";
import type { Bench, Options } from "../bench.ts";
import { compare, interleave, type Line } from "../comparison.ts";
import type { Load } from "../load/generator.ts";
import { type Generator, startGenerator } from "../load/load.ts";
import { linesOfBothLoads, measureBothLoads } from "../loads.ts";
import { ScratchRedis } from "../redis.ts";
import { authorization, poll } from "./codes.ts";
import { type ContestantName, columns, type Server, startOidcProvider, startOurs } from "./servers.ts";

interface Track {
  redis: ScratchRedis;
  servers: Server[];
  generator: Generator;
}

const connections = 50;
const liveCodes = 1000;
/** V8 reaches full speed after seconds of load. */
const warmUpSeconds = 2.5;
const exchangesOf = ({ quick }: Options) => (quick ? 100 : 2000);

const measures = {
  codes: (track: Track, options: Options) =>
    measure(track, options, {
      title: "device_authorization",
      wanted: { status: 200, texts: ['"device_code":'] },
      aim: "≥ 1",
      loadsOf: async ({ authorizationUrl }, until) => ({
        requests: [authorization(authorizationUrl)],
        until,
      }),
    }),

  /** Polls pending codes in turn. Signalbox answers slow_down to all but the first poll of a code. */
  polls: async (track: Track, options: Options) => {
    const codes = new Map<Server, string[]>();
    for (const server of track.servers) codes.set(server, await server.makeCodes("pending", liveCodes));
    return measure(track, options, {
      title: "pending polls",
      wanted: { status: 400, texts: ['"error":"authorization_pending"', '"error":"slow_down"'] },
      aim: "≥ 2.2",
      loadsOf: async (server, until) => ({
        requests: (codes.get(server) ?? []).map((code) => poll(server.tokenUrl, code)),
        until,
      }),
    });
  },

  /** Polls approved codes, each once: every answer is a token. */
  exchanges: (track: Track, options: Options) =>
    measure(track, options, {
      title: "exchanges",
      wanted: { status: 200, texts: ['"access_token":'] },
      aim: "≥ 1",
      loadsOf: async (server, _until, isPaced) => {
        const requests = Math.ceil(exchangesOf(options) / (isPaced ? 2 : 1));
        const codes = await server.makeCodes("approved", requests);
        return { requests: codes.map((code) => poll(server.tokenUrl, code)), until: { requests } };
      },
    }),
};

export const device: Bench<keyof typeof measures> = {
  name: "device",
  summary: "devices signed in a second, beside oidc-provider",
  description: [
    "How many devices a second can ask for codes, poll, and fetch their tokens, beside oidc-provider.",
    "oidc-provider keeps everything in the memory of its process, for this benchmark in plain Maps; it limits " +
      "nothing, paces no polls and writes no log. Signalbox commits codes, grants and tokens to its database before it " +
      "answers, keeps its limits and the pace of polls in Redis, and writes a log line for every request.",
  ],
  parts: ["codes", "polls", "exchanges"],
  seconds: 2.5,
  rounds: 3,
  measure: (options, wanted) =>
    withScratch(async (scratch) => {
      const redis = await ScratchRedis.start(scratch);
      const servers = [await startOidcProvider(scratch), await startOurs(scratch, redis, options.postgres)];
      const track = { redis, servers, generator: startGenerator(scratch, options) };
      const lines: Line<ContestantName>[] = [];
      for (const part of wanted) lines.push(...(await measures[part](track, options)));
      return { tables: [compare(columns, lines)], legend: legendOf(options) };
    }),
};

interface Course {
  title: string;
  wanted: Load["wanted"];
  /** Of the rate beside oidc-provider, on SQLite. */
  aim: string;
  loadsOf(server: Server, until: Load["until"], isPaced: boolean): Promise<Pick<Load, "requests" | "until">>;
}

async function measure(
  { redis, servers, generator }: Track,
  { rounds, seconds, postgres }: Options,
  { title, wanted, aim, loadsOf }: Course,
): Promise<Line<ContestantName>[]> {
  const turn = (turnSeconds: number) => async (server: Server) => {
    const [full, half] = [
      await loadsOf(server, { seconds: turnSeconds }, false),
      await loadsOf(server, { seconds: turnSeconds }, true),
    ];
    return measureBothLoads(server.pids, {
      prepare: () => redis.prepare("everysec"),
      send: (perSecond) =>
        generator({ ...(perSecond === undefined ? full : half), connections, wanted, perSecond }),
    });
  };
  const warmUp = turn(Math.min(warmUpSeconds, seconds));
  await interleave(servers, { rounds: 1, what: `${title}, warming up` }, warmUp);
  const found = await interleave(servers, { rounds, what: `${title}, round` }, turn(seconds));
  return linesOfBothLoads(title, found, postgres ? {} : { rate: { oidcProvider: aim } });
}

function legendOf(options: Options): string[] {
  return [
    `Medians of ${options.rounds} rounds: ${options.seconds} s a turn, ${exchangesOf(options)} exchanges a turn.`,
    "÷ is Signalbox as a ratio to the other, within each round, then the median; in brackets its aim.",
    "CPU µs are of one request, by process.",
  ];
}
