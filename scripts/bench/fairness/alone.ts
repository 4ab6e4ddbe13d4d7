import { createAccessToken } from "../../../shared/accounts/access-tokens.ts";
import { type Scratch, withScratch } from "../../scratch/scratch.ts";
import type { Options } from "../bench.ts";
import { kilobyte, megabyte, pushPayload } from "../bodies.ts";
import { interleave, type Line, rateLines } from "../comparison.ts";
import { type Generator, startGenerator } from "../load/load.ts";
import { type PlainRequest, postJson } from "../load/request.ts";
import { cpuPerRequest } from "../machine/cpu.ts";
import { startPlayer } from "../player.ts";
import { addBuilds } from "../servers/tenant.ts";
import { authorized, openClient } from "./client.ts";
import { type ArtifactServer, measureArtifacts } from "./measure-artifacts.ts";
import { builds } from "./prepare.ts";
import { type FairTenant, startTenants } from "./tenants.ts";

/** In the table's order. The server by hand takes artifacts. */
export const aloneColumns = { byHand: "by hand", withoutTurns: "without turns", signalbox: "Signalbox" };

interface Server extends ArtifactServer {
  tenant: FairTenant;
  /** A token may have only so many downloads at once. */
  apiTokens: string[];
}

interface Track {
  scratch: Scratch;
  servers: Server[];
  generator: Generator;
}

type Measure = (track: Track, options: Options) => Promise<Line[]>;

const starter = "scripts/bench/fairness/without-turns.ts";
const buildsToList = 1000;
const readers = 8;
/** Each sends logs over three connections, or uploads steps over one. */
const agents = 20;
const quickAgents = 5;
const parallel = 3;
const filter = `webhook.payload.ref == "refs/heads/main" && !webhook.payload.repository.private`;
const aims = { withoutTurns: "≥ 0.9" };

// Lists come first: the other parts leave larger builds.
const measures: Record<string, Measure> = {
  "alone-lists": sending({
    title: `${readers} readers of lists of 30 builds: answers/s`,
    connections: readers,
    status: 200,
    cpuAim: "≤ 3000",
    requests: ({ tenant, apiTokens }) =>
      apiTokens.map((apiToken) => authorized({ apiToken }, { method: "GET", url: tenant.rest.builds })),
  }),
  "alone-pages": sending({
    title: `${readers} readers of the page of a pipeline: answers/s`,
    connections: readers,
    status: 200,
    requests: ({ tenant: { pages, cookie } }) => [
      { method: "GET", url: pages.pipeline, headers: { Cookie: cookie } },
    ],
  }),
  // More would be refused: one runs, and two wait.
  "alone-filters": sending({
    title: "2 senders of filter tests: answers/s",
    connections: 2,
    status: 200,
    async requests({ tenant }) {
      const post = postJson(tenant.deliveryUrl, pushPayload(20 * kilobyte));
      const { id } = JSON.parse((await openClient(() => "198.51.100.7")(post)).text);
      const test = JSON.stringify({ expression: filter, delivery_id: id });
      return [authorized(tenant, postJson(`${tenant.rest.trigger}/filter/test`, test))];
    },
  }),
  "alone-webhooks": sending({
    title: "8 senders of webhooks of 1 MB: accepted/s",
    connections: 8,
    status: 201,
    requests: ({ tenant }) => [postJson(tenant.deliveryUrl, pushPayload(megabyte))],
  }),
  "alone-logs": withAgents("logs: MB/s", async (server, count, seconds) => {
    const sent = await server.agents.sendLogs(count, { parallel, seconds });
    return { ...sent, accepted: sent.accepted / megabyte };
  }),
  "alone-steps": withAgents("uploads of 20 steps: uploads/s", (server, count, seconds) =>
    server.agents.uploadSteps(count, seconds),
  ),
  "alone-artifacts": ({ scratch, servers }, options) => measureArtifacts(scratch, servers, options, aims),
};

export const aloneNames = Object.keys(measures);

/** Measures an organization that has an installation for itself, with turns and without. */
export function measureAlone(names: string[], options: Options): Promise<Line[]> {
  return withScratch(async (scratch) => {
    const servers = [
      await startServer(scratch, "withoutTurns", options, starter),
      await startServer(scratch, "signalbox", options),
    ];
    const track = { scratch, servers, generator: startGenerator(scratch, options) };
    const lines: Line[] = [];
    for (const name of names) lines.push(...((await measures[name]?.(track, options)) ?? []));
    return lines;
  });
}

async function startServer(
  scratch: Scratch,
  name: string,
  { postgres, quick }: Options,
  starter?: string,
): Promise<Server> {
  const started = await startTenants(scratch, {
    name: name.toLowerCase(),
    orgs: ["alone"],
    postgres,
    starter,
    prepare: builds(buildsToList),
  });
  const { url, pids, withServices, seed } = started;
  const tenant = seed[0] as FairTenant;
  const input = {
    email: tenant.email,
    organization: tenant.org,
    scopes: ["read_builds"],
    description: "Bench",
  };
  const apiTokens = await withServices((services) =>
    Promise.all(
      Array.from({ length: readers }, async () => (await createAccessToken(services, input)).token),
    ),
  );
  const players = { name: `agents-${name}` };
  const player = startPlayer<typeof import("../agents/players.ts")>(scratch, "agents/players.ts", players);
  await player.registerAll(url, tenant.agentToken, quick ? quickAgents : agents);
  const add = (count: number) => withServices((services) => addBuilds(services, tenant.pipelineId, count));
  return { name, url, pid: pids.server, agents: player, add, tenant, apiTokens };
}

/** Measures readers and senders at once. */
function sending(course: {
  title: string;
  connections: number;
  status: number;
  cpuAim?: string;
  requests(server: Server): PlainRequest[] | Promise<PlainRequest[]>;
}): Measure {
  const { title, connections, status, cpuAim } = course;
  return async ({ servers, generator }, { rounds, seconds }) => {
    const found = await interleave(servers, { rounds, title }, async (server) => {
      const requests = await course.requests(server);
      const load = { requests, connections, wanted: { status }, until: { seconds } };
      return cpuPerRequest({ server: server.pid }, () => generator(load));
    });
    return rateLines(title, found, aims, cpuAim ? { signalbox: cpuAim } : {});
  };
}

function withAgents(
  title: string,
  work: (server: Server, count: number, seconds: number) => Promise<{ accepted: number; seconds: number }>,
): Measure {
  return async ({ servers }, { rounds, seconds, quick }) => {
    const count = quick ? quickAgents : agents;
    const found = await interleave(servers, { rounds, title }, async (server) => {
      await server.add(count);
      return cpuPerRequest({ server: server.pid }, () => work(server, count, seconds));
    });
    return rateLines(title, found, aims);
  };
}
