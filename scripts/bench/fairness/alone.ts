import { createAccessToken } from "../../../shared/accounts/access-tokens.ts";
import type { Services } from "../../../shared/process/services.ts";
import { withServices } from "../../scratch/installation.ts";
import { type Scratch, withScratch } from "../../scratch/scratch.ts";
import { type ArtifactServer, measureArtifacts } from "../agents/measure-artifacts.ts";
import type { Options } from "../bench.ts";
import { kilobyte, megabyte, pushPayload } from "../bodies.ts";
import { addBuilds } from "../builds.ts";
import { interleave, type Line, lineOf } from "../comparison.ts";
import { type Generator, startGenerator } from "../load/load.ts";
import { type PlainRequest, postJson } from "../load/request.ts";
import { cpuLines } from "../loads.ts";
import { cpuPerRequest } from "../machine/cpu.ts";
import { startPlayer } from "../player.ts";
import { authorized, openClient } from "./client.ts";
import { startAlone, type Tenant } from "./tenants.ts";

/** In the table's order. The server by hand takes artifacts. */
export const aloneColumns = { byHand: "by hand", withoutTurns: "without turns", signalbox: "Signalbox" };
type Lines = Line<keyof typeof aloneColumns>[];
type Name = "withoutTurns" | "signalbox";

interface Server extends ArtifactServer<Name> {
  tenant: Tenant;
  /** A token may have only so many downloads at once. */
  apiTokens: string[];
}

interface Track {
  scratch: Scratch;
  servers: Server[];
  generator: Generator;
}

const starter = "scripts/bench/fairness/without-turns.ts";
const builds = 1000;
const readers = 8;
/** Each sends logs over three connections, or uploads steps over one. */
const agents = 20;
const quickAgents = 5;
const parallel = 3;
const filter = `webhook.payload.ref == "refs/heads/main" && !webhook.payload.repository.private`;
const aims = { withoutTurns: "≥ 0.9" };

/** Readers and senders at once. */
interface Requests {
  title: string;
  connections: number;
  status: number;
  cpuAim?: string;
  requests(server: Server): PlainRequest[] | Promise<PlainRequest[]>;
}

// Lists come first: the other parts leave larger builds.
const measures = {
  "alone-lists": measuring({
    ...{ title: `${readers} readers of lists of 30 builds: answers/s`, connections: readers, status: 200 },
    cpuAim: "≤ 3000",
    requests: ({ tenant, apiTokens }) =>
      apiTokens.map((apiToken) => authorized({ apiToken }, { method: "GET", url: tenant.rest.builds })),
  }),
  "alone-pages": measuring({
    ...{
      title: `${readers} readers of the page of a pipeline: answers/s`,
      connections: readers,
      status: 200,
    },
    requests({ tenant: { pages, sessionToken } }) {
      const headers = { Cookie: `signalbox=${sessionToken}` };
      return [{ method: "GET", url: pages.pipeline, headers }];
    },
  }),
  // More would be refused: one runs, and two wait.
  "alone-filters": measuring({
    ...{ title: "2 senders of filter tests: answers/s", connections: 2, status: 200 },
    async requests({ tenant }) {
      const post = postJson(tenant.deliveryUrl, pushPayload(20 * kilobyte));
      const { id } = JSON.parse((await openClient(() => "198.51.100.7")(post)).text);
      const test = JSON.stringify({ expression: filter, delivery_id: id });
      return [authorized(tenant, postJson(`${tenant.rest.trigger}/filter/test`, test))];
    },
  }),
  "alone-webhooks": measuring({
    ...{ title: "8 senders of webhooks of 1 MB: accepted/s", connections: 8, status: 201 },
    requests: ({ tenant }) => [postJson(tenant.deliveryUrl, pushPayload(megabyte))],
  }),
  "alone-logs": measureLogs,
  "alone-steps": measureSteps,
  "alone-artifacts": ({ scratch, servers }: Track, options: Options): Promise<Lines> =>
    measureArtifacts(scratch, servers, options, aims),
};

export type AloneName = keyof typeof measures;
export const aloneNames = Object.keys(measures) as AloneName[];

/** Measures an organization that has an installation for itself, with turns and without. */
export function measureAlone(names: AloneName[], options: Options): Promise<Lines> {
  return withScratch(async (scratch) => {
    const servers = [
      await startServer(scratch, "withoutTurns", options, starter),
      await startServer(scratch, "signalbox", options),
    ];
    const track = { scratch, servers, generator: startGenerator(scratch, options) };
    const lines: Lines = [];
    for (const name of names) lines.push(...(await measures[name](track, options)));
    return lines;
  });
}

async function startServer(
  scratch: Scratch,
  name: Name,
  { postgres, quick }: Options,
  starter?: string,
): Promise<Server> {
  const started = await startAlone(scratch, {
    ...{ name: name.toLowerCase(), postgres, starter },
    async prepare(services, { pipeline }) {
      await addBuilds(services, pipeline.id, builds);
      return {};
    },
  });
  const { url, seed: tenant, pids } = started;
  const apiTokens = await withServices(started, (services) => createTokens(services, tenant));
  const players = { name: `agents-${name}` };
  const player = startPlayer<typeof import("../agents/players.ts")>(scratch, "agents/players.ts", players);
  await player.registerAll(url, tenant.agentToken, quick ? quickAgents : agents);
  const add = (count: number) =>
    withServices(started, (services) => addBuilds(services, tenant.pipelineId, count));
  return { name, url, pid: pids.server ?? 0, agents: player, add, tenant, apiTokens };
}

function createTokens(services: Services, { email, org: organization }: Tenant): Promise<string[]> {
  const input = { email, organization, scopes: ["read_builds"], description: "Bench" };
  const create = async () => (await createAccessToken(services, input)).token;
  return Promise.all(Array.from({ length: readers }, create));
}

function measuring({ title, connections, status, cpuAim, requests }: Requests) {
  return async ({ servers, generator }: Track, { rounds, seconds }: Options): Promise<Lines> => {
    const found = await interleave(servers, { rounds, title }, async (server) => {
      const load = { requests: await requests(server), connections, wanted: { status }, until: { seconds } };
      return cpuPerRequest({ server: server.pid }, () => generator(load));
    });
    return [
      lineOf(title, found, ({ perSecond }) => perSecond, aims),
      ...cpuLines("  ", found, ({ cpu }) => cpu, cpuAim ? { signalbox: cpuAim } : {}),
    ];
  };
}

function measureLogs(track: Track, options: Options): Promise<Lines> {
  return measureAgents(track, options, "logs: MB/s", async ({ agents }, count, seconds) => {
    const { bytes, seconds: passed } = await agents.sendLogs(count, { parallel, seconds });
    return { accepted: bytes / megabyte, seconds: passed };
  });
}

function measureSteps(track: Track, options: Options): Promise<Lines> {
  return measureAgents(track, options, "uploads of 20 steps: uploads/s", ({ agents }, count, seconds) =>
    agents.uploadSteps(count, seconds),
  );
}

async function measureAgents(
  { servers }: Track,
  { rounds, seconds, quick }: Options,
  title: string,
  work: (server: Server, count: number, seconds: number) => Promise<{ accepted: number; seconds: number }>,
): Promise<Lines> {
  const count = quick ? quickAgents : agents;
  const found = await interleave(servers, { rounds, title }, async (server) => {
    await server.add(count);
    return cpuPerRequest({ server: server.pid }, () => work(server, count, seconds));
  });
  return [
    lineOf(title, found, ({ accepted, seconds }) => accepted / seconds, aims),
    ...cpuLines("  ", found, ({ cpu }) => cpu),
  ];
}
