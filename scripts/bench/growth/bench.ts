import { setTimeout as sleep } from "node:timers/promises";
import { Option } from "commander";
import { percentile } from "../../scratch/figures.ts";
import { wholeNumbers } from "../../scratch/options.ts";
import { withScratch } from "../../scratch/scratch.ts";
import type { Bench, Options } from "../bench.ts";
import { type Aims, compare, interleave, type Line, lineOf, mediansOf, type Round } from "../comparison.ts";
import { startGenerator } from "../load/load.ts";
import type { Track } from "../loads.ts";
import { type CpuTimes, cpuPerRequest } from "../machine/cpu.ts";
import { measureBuilds, openCounter } from "../servers/counter.ts";
import { startRedis } from "../servers/redis.ts";
import { takeStallMs } from "../servers/signalbox.ts";
import { buildCases, type Case, type CaseGroup, groups } from "./cases.ts";
import { type Server, startServer } from "./servers.ts";

interface Turn {
  p50: number;
  p99: number;
  cpu: CpuTimes;
  /** The longest time for which the ingress' event loop stood still. */
  stallMs: number;
}

const defaultRows = [1000, 100_000, 1_000_000];
/** Requests of a turn that cannot be repeated. */
const onceOf = ({ quick }: Options) => (quick ? 4 : 50);
const quietMs = 3000;

export const growth: Bench = {
  name: "growth",
  summary: "hot paths, lists and pages with a thousand, 100,000 and a million rows",
  description: [
    "The cost of the same request with few rows and with many: installations of which each has so many deliveries, " +
      "builds, jobs and grants, a tenth of it open pull requests, with the payloads of a week, tokens and audit entries. " +
      "As many jobs of another organization wait for a stack, 100,000 at most.",
    "The requests come one after the other, in turns. CPU time is of all processes of Signalbox and Postgres.",
  ],
  parts: Object.keys(groups),
  seconds: 0.5,
  rounds: 4,
  options: [
    new Option("--rows <numbers>", "of each installation, with commas, the fewest first")
      .argParser(wholeNumbers)
      .default(defaultRows),
  ],
  measure: (options, wanted) =>
    withScratch(async (scratch) => {
      const redis = await startRedis(scratch);
      const servers: Server[] = [];
      for (const rows of options.rows)
        servers.push(await startServer(scratch, redis, { rows, postgres: options.postgres }));
      const track = { redis, servers, generator: startGenerator(scratch, options) };
      const lines: Line[] = [];
      for (const name of wanted) {
        const group = groups[name] as CaseGroup;
        for (const each of group.cases) lines.push(...(await measureCase(track, each, group, options)));
      }
      // Last: workers would build beside the other cases.
      if (wanted.includes("hot"))
        lines.push(...(await measureBuilding(track, groups.hot as CaseGroup, options)));
      const columns = options.rows.map((rows) => [rows, `${rows.toLocaleString("en")} rows`] as const);
      return { tables: [compare(Object.fromEntries(columns), lines)], legend: legendOf(options) };
    }),
};

/** Measures requests of one case, one after the other. */
async function measureCase(
  { servers, generator }: Track<Server>,
  { title, status, requests, isOnce }: Case,
  group: CaseGroup,
  options: Options,
): Promise<Line[]> {
  const { rounds, seconds } = options;
  const until = isOnce ? { requests: onceOf(options) } : { seconds };
  const found = await interleave(servers, { rounds, title }, async (server): Promise<Turn> => {
    const load = {
      requests: await requests(server, onceOf(options)),
      connections: 1,
      wanted: { status },
      until,
    };
    await takeStallMs(server);
    const result = await cpuPerRequest(pidsOf(server), () => generator(load));
    return { ...result, stallMs: await takeStallMs(server) };
  });
  return linesOf(`${group.title}: ${title}`, found, group, options);
}

/** Measures posts, one after the other, and a worker that only builds. */
async function measureBuilding(
  { servers, generator }: Track<Server>,
  group: CaseGroup,
  options: Options,
): Promise<Line[]> {
  const lines: Line[] = [];
  for (const server of servers) await startBuilding(server);
  for (const { title, requests } of buildCases) {
    const found = await interleave(
      servers,
      { rounds: options.rounds, title },
      async (server): Promise<Turn> => {
        const count = onceOf(options);
        const load = { connections: 1, wanted: { status: 201 }, until: { requests: count } };
        const posts = await requests(server, count);
        const { pipelineId } = server.seed;
        await takeStallMs(server);
        const { delays, cpu } = await measureBuilds({ ...server, pids: pidsOf(server), pipelineId }, () =>
          generator({ ...load, requests: posts }),
        );
        const stallMs = await takeStallMs(server);
        return { cpu, p50: percentile(delays, 0.5), p99: percentile(delays, 0.99), stallMs };
      },
    );
    lines.push(...linesOf(`${group.title}: ${title}`, found, group, options));
  }
  return lines;
}

/** Waits until the new worker has built what was accepted before. */
async function startBuilding(server: Server): Promise<void> {
  await server.startWorker("deliveries");
  await using counter = await openCounter(server.databaseUrl, server.seed.pipelineId);
  for (let before = -1; before !== (await counter.last()); await sleep(quietMs))
    before = await counter.last();
}

function pidsOf({ pids: { Redis: _, ...pids } }: Server) {
  return pids;
}

function linesOf(
  title: string,
  found: Round<Turn>[],
  { maxRatio, aims }: CaseGroup,
  { rows }: Options,
): Line[] {
  const [most, ...fewer] = rows.map(String).toReversed();
  const ratios = Object.fromEntries(fewer.map((name) => [name, `≤ ${maxRatio}`]));
  const aimOf = (aim?: string): Aims => (aim ? { [most as string]: aim } : {});
  const cpuOf = ({ cpu }: Turn) => Object.values(cpu).reduce((sum, each) => sum + each, 0);
  return [
    lineOf(`${title}, p50 ms`, found, ({ p50 }) => p50, ratios),
    lineOf("  p99 ms", found, ({ p99 }) => p99, aimOf(aims?.p99)),
    lineOf("  CPU µs", found, cpuOf, ratios),
    lineOf("  longest stall of a turn, ms", found, ({ stallMs }) => stallMs, aimOf(aims?.stall)),
  ];
}

function legendOf(options: Options): string[] {
  return [
    `${mediansOf(options.rounds)}: requests one after the other for ${options.seconds} s, or ${onceOf(options)} that cannot be repeated.`,
    "CPU µs are of one request, in ingress, worker and Postgres together. ÷ is a ratio to fewer rows, in brackets its aim.",
  ];
}
