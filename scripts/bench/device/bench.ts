import { withScratch } from "../../scratch/scratch.ts";
import type { Bench, Options } from "../bench.ts";
import { compare, type Line, mediansOf, ratioLegend } from "../comparison.ts";
import { startGenerator } from "../load/load.ts";
import { measureLoads, type Track } from "../loads.ts";
import { startRedis } from "../redis.ts";
import { authorization, poll } from "./codes.ts";
import { type ContestantName, columns, type Server, startOidcProvider, startOurs } from "./servers.ts";

const connections = 50;
const liveCodes = 1000;
const exchangesOf = ({ quick }: Options) => (quick ? 100 : 2000);

const measures = {
  codes: (track: Track<Server>, options: Options) =>
    measureLoads<ContestantName, Server>(
      track,
      {
        title: "device_authorization",
        load: ({ authorizationUrl }, seconds) => ({
          ...{ requests: [authorization(authorizationUrl)], connections, until: { seconds } },
          wanted: { status: 200, texts: ['"device_code":'] },
        }),
        aims: { rate: { oidcProvider: "≥ 1.1" } },
      },
      options,
    ),

  /** Polls pending codes in turn. Signalbox answers slow_down to all but the first poll of a code. */
  polls: async (track: Track<Server>, options: Options) => {
    const codes = new Map<Server, string[]>();
    for (const server of track.servers) codes.set(server, await server.makeCodes("pending", liveCodes));
    const polls = (server: Server) => codes.get(server)?.map((code) => poll(server.tokenUrl, code)) ?? [];
    return measureLoads<ContestantName, Server>(
      track,
      {
        title: "pending polls",
        load: (server, seconds) => ({
          ...{ requests: polls(server), connections, until: { seconds } },
          wanted: { status: 400, texts: ['"error":"authorization_pending"', '"error":"slow_down"'] },
        }),
        aims: { rate: { oidcProvider: "≥ 2.5" } },
      },
      options,
    );
  },

  /** Polls approved codes, each once: every answer is a token. */
  exchanges: (track: Track<Server>, options: Options) =>
    measureLoads<ContestantName, Server>(
      track,
      {
        title: "exchanges",
        async load(server, _, isPaced) {
          const requests = Math.ceil(exchangesOf(options) / (isPaced ? 2 : 1));
          const codes = await server.makeCodes("approved", requests);
          return {
            ...{ requests: codes.map((code) => poll(server.tokenUrl, code)), connections },
            ...{ until: { requests }, wanted: { status: 200, texts: ['"access_token":'] } },
          };
        },
        aims: { rate: { oidcProvider: "≥ 1.3" } },
      },
      options,
    ),
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
      const redis = await startRedis(scratch);
      const servers = [await startOidcProvider(scratch), await startOurs(scratch, redis, options.postgres)];
      const track = { redis, servers, generator: startGenerator(scratch, options) };
      const lines: Line<ContestantName>[] = [];
      for (const part of wanted) lines.push(...(await measures[part](track, options)));
      return { tables: [compare(columns, lines)], legend: legendOf(options) };
    }),
};

function legendOf(options: Options): string[] {
  return [
    `${mediansOf(options.rounds)}: ${options.seconds} s a turn, ${exchangesOf(options)} exchanges a turn.`,
    ratioLegend,
    "CPU µs are of one request, by process.",
  ];
}
