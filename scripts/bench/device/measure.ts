import { type Line, lineOf } from "../comparison.ts";
import { type FormLoad, type Generator, type LoadResult, startGenerator } from "../load/load.ts";
import { step } from "../progress.ts";
import { ScratchRedis } from "../redis.ts";
import { interleave, type Round } from "../rounds.ts";
import { type Scratch, withScratch } from "../scratch.ts";
import { type ContestantName, client, type Server, startServers } from "./contestants.ts";

/** Running servers and a load generator. */
export interface Track {
  redis: ScratchRedis;
  servers: Server[];
  generator: Generator;
}

export interface Lengths {
  seconds: number;
  rounds: number;
  exchanges: number;
}

const connections = 50;
/** Number of polling devices. */
const liveCodes = 1000;
/** V8 needs seconds of load to reach full speed. */
const warmUpSeconds = 2.5;

export function withTrack<T>(work: (track: Track) => Promise<T>): Promise<T> {
  return withScratch(async (scratch) => work(await openTrack(scratch)));
}

async function openTrack(scratch: Scratch): Promise<Track> {
  step("Starting the servers");
  const redis = await ScratchRedis.start(scratch);
  return { redis, servers: await startServers(scratch, redis), generator: startGenerator(scratch) };
}

/** Measures device authorizations. */
export async function measureAuthorizations(track: Track, lengths: Lengths): Promise<Line<ContestantName>[]> {
  const forms = [form({ client_id: client.id, scope: client.scopes.join(" ") })];
  const wanted = { status: 200, texts: ['"device_code":'] };
  const turn = (seconds: number) => (server: Server) =>
    load(track, { url: server.authorizationUrl, forms, until: { seconds }, wanted });

  const results = await inTurns(track, "Codes", lengths, turn(warmUpSeconds), turn(lengths.seconds));
  return linesOf("device_authorization", results);
}

/** Measures polls of pending codes, in turn. Signalbox answers slow_down to all but the first poll of a code. */
export async function measurePolls(track: Track, lengths: Lengths): Promise<Line<ContestantName>[]> {
  step(`Making ${liveCodes} codes for each`);
  const forms = new Map<Server, string[]>();
  for (const server of track.servers)
    forms.set(server, (await server.makeCodes("pending", liveCodes)).map(pollForm));
  const wanted = { status: 400, texts: ['"error":"authorization_pending"', '"error":"slow_down"'] };
  const turn = (seconds: number) => (server: Server) =>
    load(track, { url: server.tokenUrl, forms: forms.get(server) ?? [], until: { seconds }, wanted });

  const results = await inTurns(track, "Polls", lengths, turn(warmUpSeconds), turn(lengths.seconds));
  return linesOf("pending polls", results, { oidcProvider: "≥ 2" });
}

/** Measures polls of approved codes: each answer is a token. */
export async function measureExchanges(track: Track, lengths: Lengths): Promise<Line<ContestantName>[]> {
  const wanted = { status: 200, texts: ['"access_token":'] };
  const turn = async (server: Server) => {
    const forms = (await server.makeCodes("approved", lengths.exchanges)).map(pollForm);
    return load(track, { url: server.tokenUrl, forms, until: "each was sent once", wanted });
  };
  return linesOf("exchanges", await inTurns(track, "Exchanges", lengths, turn, turn));
}

async function inTurns(
  { servers }: Track,
  what: string,
  { rounds }: Lengths,
  warmUp: (server: Server) => Promise<LoadResult>,
  turn: (server: Server) => Promise<LoadResult>,
): Promise<Round<ContestantName, LoadResult>[]> {
  await interleave(servers, { rounds: 1, what: `${what}, warming up` }, warmUp);
  return interleave(servers, { rounds, what: `${what}, round` }, turn);
}

async function load({ redis, generator }: Track, order: Omit<FormLoad, "connections">): Promise<LoadResult> {
  await redis.prepare("everysec");
  return generator.sendForms({ ...order, connections });
}

function linesOf(
  title: string,
  results: Round<ContestantName, LoadResult>[],
  aims: Line<ContestantName>["aims"] = {},
): Line<ContestantName>[] {
  return [
    lineOf(`${title}/s`, results, (result) => result.perSecond, aims),
    lineOf("  p50 ms", results, (result) => result.p50),
    lineOf("  p99 ms", results, (result) => result.p99),
  ];
}

function pollForm(deviceCode: string): string {
  const grant_type = "urn:ietf:params:oauth:grant-type:device_code";
  return form({ grant_type, client_id: client.id, device_code: deviceCode });
}

function form(parameters: Record<string, string>): string {
  return new URLSearchParams(parameters).toString();
}
