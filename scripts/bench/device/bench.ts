import { type Scratch, withScratch } from "../../scratch/scratch.ts";
import type { Bench, Options } from "../bench.ts";
import { compare, type Line, mediansOf, ratioLegend } from "../comparison.ts";
import type { Load } from "../load/generator.ts";
import { startGenerator } from "../load/load.ts";
import { type Contestant, measureLoads } from "../loads.ts";
import { startPlayer } from "../player.ts";
import { type ScratchRedis, startRedis } from "../servers/redis.ts";
import { startSignalbox } from "../servers/signalbox.ts";
import { createClient, createTenant } from "../servers/tenant.ts";
import { authorization, deviceCodeSeconds, deviceUrls, makeCodes, type Progress, poll } from "./codes.ts";

/** In the order of the table. */
const columns = { oidcProvider: "oidc-provider", signalbox: "Signalbox" };
const connections = 50;
const liveCodes = 1000;
const exchangesOf = ({ quick }: Options) => (quick ? 100 : 2000);

interface Server extends Contestant {
  authorizationUrl: string;
  tokenUrl: string;
  /** Sends no requests. */
  makeCodes(progress: Progress, count: number): Promise<string[]>;
}

interface Part {
  title: string;
  /** Of the rate. */
  aim: string;
  wanted: Load["wanted"];
  requests(server: Server, count: number): Promise<Load["requests"]>;
  /** Each code once: every answer is a token. */
  isOnce?: true;
}

const pollsOf = (progress: Progress) => async (server: Server, count: number) =>
  (await server.makeCodes(progress, count)).map((code) => poll(server.tokenUrl, code));

const parts: Record<string, Part> = {
  codes: {
    title: "device_authorization",
    aim: "≥ 1.1",
    wanted: { status: 200, texts: ['"device_code":'] },
    requests: async ({ authorizationUrl }) => [authorization(authorizationUrl)],
  },
  /** Polls in turn. Signalbox answers slow_down to all but the first poll of a code. */
  polls: {
    title: "pending polls",
    aim: "≥ 2.5",
    wanted: { status: 400, texts: ['"error":"authorization_pending"', '"error":"slow_down"'] },
    requests: pollsOf("pending"),
  },
  exchanges: {
    title: "exchanges",
    aim: "≥ 1.3",
    isOnce: true,
    wanted: { status: 200, texts: ['"access_token":'] },
    requests: pollsOf("approved"),
  },
};

export const device: Bench = {
  name: "device",
  summary: "devices signed in a second, beside oidc-provider",
  description: [
    "How many devices a second can ask for codes, poll, and fetch their tokens, beside oidc-provider.",
    "oidc-provider keeps everything in the memory of its process, for this benchmark in plain Maps; it limits " +
      "nothing, paces no polls and writes no log. Signalbox commits codes, grants and tokens to its database before it " +
      "answers, keeps its limits and the pace of polls in Redis, and writes a log line for every request.",
  ],
  parts: Object.keys(parts),
  seconds: 2.5,
  rounds: 3,
  measure: (options, wanted) =>
    withScratch(async (scratch) => {
      const redis = await startRedis(scratch);
      const servers = [await startOidcProvider(scratch), await startOurs(scratch, redis, options.postgres)];
      const track = { redis, servers, generator: startGenerator(scratch, options) };
      const lines: Line[] = [];
      for (const name of wanted) {
        const { title, aim, wanted, requests, isOnce } = parts[name] as Part;
        const repeated = new Map<Server, Load["requests"]>();
        const load = async (server: Server, seconds: number, isPaced: boolean): Promise<Load> => {
          const count = isOnce ? Math.ceil(exchangesOf(options) / (isPaced ? 2 : 1)) : liveCodes;
          const made = repeated.get(server) ?? (await requests(server, count));
          if (!isOnce) repeated.set(server, made);
          return { requests: made, connections, wanted, until: isOnce ? { requests: count } : { seconds } };
        };
        const course = { title, load, aims: { rate: { oidcProvider: aim } } };
        lines.push(...(await measureLoads(track, course, options)));
      }
      return { tables: [compare(columns, lines)], legend: legendOf(options) };
    }),
};

async function startOidcProvider(scratch: Scratch): Promise<Server> {
  const file = "device/oidc-provider/server.ts";
  const provider = startPlayer<typeof import("./oidc-provider/server.ts")>(scratch, file);
  const url = await provider.listen();
  return {
    name: "oidcProvider",
    fsync: "everysec",
    pids: { server: provider.pid },
    authorizationUrl: `${url}/device/auth`,
    tokenUrl: `${url}/token`,
    makeCodes: provider.makeCodes,
  };
}

async function startOurs(
  scratch: Scratch,
  redis: ScratchRedis,
  postgres: string | undefined,
): Promise<Server> {
  const { pids, url, seed, withServices } = await startSignalbox(scratch, redis, {
    name: "device",
    postgres,
    settings: { DEVICE_CODE_SECONDS: String(deviceCodeSeconds) },
    seed: async (services) => {
      const applicationId = await createClient(services);
      return (await createTenant(services, { applicationId })).tenant;
    },
  });
  return {
    name: "signalbox",
    fsync: "everysec",
    pids,
    ...deviceUrls(url),
    makeCodes: (progress, count) => withServices((services) => makeCodes(services, seed, progress, count)),
  };
}

function legendOf(options: Options): string[] {
  return [
    `${mediansOf(options.rounds)}: ${options.seconds} s a turn, ${exchangesOf(options)} exchanges a turn.`,
    ratioLegend,
    "CPU µs are of one request, by process.",
  ];
}
