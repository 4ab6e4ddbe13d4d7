import { type BothLoads, linesOfBothLoads, measureBothLoads } from "../both-loads.ts";
import type { Line } from "../comparison.ts";
import { type FormLoad, type Generator, startGenerator } from "../load/load.ts";
import { step } from "../progress.ts";
import { ScratchRedis } from "../redis.ts";
import { interleave, type Round } from "../rounds.ts";
import { type Scratch, withScratch } from "../scratch.ts";
import { type ContestantName, client, type Server } from "./contestants.ts";
import { startServers } from "./servers.ts";

export interface Track {
  redis: ScratchRedis;
  servers: Server[];
  generator: Generator;
}

export interface Lengths {
  seconds: number;
  rounds: number;
  exchanges: number;
  postgres?: string;
}

const connections = 50;
const liveCodes = 1000;
/** V8 reaches full speed after seconds of load. */
const warmUpSeconds = 2.5;

/** @param postgres Signalbox's database. Undefined: SQLite */
export function withTrack<T>(postgres: string | undefined, work: (track: Track) => Promise<T>): Promise<T> {
  return withScratch(async (scratch) => work(await openTrack(scratch, postgres)));
}

async function openTrack(scratch: Scratch, postgres: string | undefined): Promise<Track> {
  step("Starting the servers");
  const redis = await ScratchRedis.start(scratch);
  return { redis, servers: await startServers(scratch, redis, postgres), generator: startGenerator(scratch) };
}

export async function measureAuthorizations(track: Track, lengths: Lengths): Promise<Line<ContestantName>[]> {
  const forms = [form({ client_id: client.id, scope: client.scopes.join(" ") })];
  const wanted = { status: 200, texts: ['"device_code":'] };
  const turn = (seconds: number) => (server: Server) =>
    loadInCycle(track, server, { url: server.authorizationUrl, forms, wanted, seconds });

  const results = await inTurns(track, "Codes", lengths, turn);
  return linesOfBothLoads("device_authorization", results, aimsOf(lengths, "≥ 1"));
}

/** Polls pending codes in turn. Signalbox answers slow_down to all but the first poll of a code. */
export async function measurePolls(track: Track, lengths: Lengths): Promise<Line<ContestantName>[]> {
  step(`Making ${liveCodes} codes for each`);
  const forms = new Map<Server, string[]>();
  for (const server of track.servers)
    forms.set(server, (await server.makeCodes("pending", liveCodes)).map(pollForm));
  const wanted = { status: 400, texts: ['"error":"authorization_pending"', '"error":"slow_down"'] };
  const turn = (seconds: number) => (server: Server) =>
    loadInCycle(track, server, { url: server.tokenUrl, forms: forms.get(server) ?? [], wanted, seconds });

  const results = await inTurns(track, "Polls", lengths, turn);
  return linesOfBothLoads("pending polls", results, aimsOf(lengths, "≥ 2.2"));
}

/** Polls approved codes: each answer is a token. */
export async function measureExchanges(track: Track, lengths: Lengths): Promise<Line<ContestantName>[]> {
  const wanted = { status: 200, texts: ['"access_token":'] };
  const turn = () => async (server: Server) => {
    const forms = (await server.makeCodes("approved", lengths.exchanges)).map(pollForm);
    const later = (await server.makeCodes("approved", Math.ceil(lengths.exchanges / 2))).map(pollForm);
    const order = { url: server.tokenUrl, wanted, connections };
    return measureBothLoads(server.pids, {
      prepare: () => track.redis.prepare("everysec"),
      saturate: () => track.generator.sendForms({ ...order, forms, until: "each was sent once" }),
      pace: (perSecond) => track.generator.paceForms({ ...order, forms: later, perSecond }),
    });
  };
  return linesOfBothLoads(
    "exchanges",
    await inTurns(track, "Exchanges", lengths, turn),
    aimsOf(lengths, "≥ 1"),
  );
}

async function inTurns(
  { servers }: Track,
  what: string,
  { rounds, seconds }: Lengths,
  turn: (seconds: number) => (server: Server) => Promise<BothLoads>,
): Promise<Round<ContestantName, BothLoads>[]> {
  const warmUp = turn(Math.min(warmUpSeconds, seconds));
  await interleave(servers, { rounds: 1, what: `${what}, warming up` }, warmUp);
  return interleave(servers, { rounds, what: `${what}, round` }, turn(seconds));
}

/** Sends the forms again and again. */
function loadInCycle(
  { redis, generator }: Track,
  { pids }: Server,
  { seconds, ...given }: Pick<FormLoad, "url" | "forms" | "wanted"> & { seconds: number },
): Promise<BothLoads> {
  const order = { ...given, connections };
  const repeated = (count: number) =>
    Array.from({ length: count }, (_, index) => order.forms[index % order.forms.length] as string);
  return measureBothLoads(pids, {
    prepare: () => redis.prepare("everysec"),
    saturate: () => generator.sendForms({ ...order, until: { seconds } }),
    pace: (perSecond) =>
      generator.paceForms({ ...order, forms: repeated(Math.ceil(perSecond * seconds)), perSecond }),
  });
}

/** Aims are for SQLite. */
function aimsOf({ postgres }: Lengths, oidcProvider: string) {
  return postgres ? {} : { rate: { oidcProvider } };
}

function pollForm(deviceCode: string): string {
  const grant_type = "urn:ietf:params:oauth:grant-type:device_code";
  return form({ grant_type, client_id: client.id, device_code: deviceCode });
}

function form(parameters: Record<string, string>): string {
  return new URLSearchParams(parameters).toString();
}
