import { setTimeout as sleep } from "node:timers/promises";
import { minuteMs } from "../../../shared/durations.ts";
import { step } from "../../scratch/progress.ts";
import { type Scratch, withScratch } from "../../scratch/scratch.ts";
import type { Bench, Options } from "../bench.ts";
import { kilobyte, megabyte, pushPayload } from "../bodies.ts";
import { compare, interleave, type Line, lineOf, mediansOf, ratioLegend } from "../comparison.ts";
import { cpuLines } from "../loads.ts";
import { cpuPerRequest, type Pids, pidsOf } from "../machine/cpu.ts";
import { type Player, startPlayer } from "../player.ts";
import { type ScratchRedis, startRedis } from "../redis.ts";
import { percentile } from "../statistics.ts";
import { writeFiles } from "./log-chunks.ts";
import { measureArtifacts } from "./measure-artifacts.ts";
import { type BullMq, type Ours, startBullMq, startOurs } from "./servers.ts";
import { shapes } from "./shapes.ts";

/** In the table's order. BullMQ takes jobs, files take logs, the server by hand takes artifacts. */
const columns = { bullmq: "BullMQ", files: "files", byHand: "by hand", signalbox: "Signalbox" };
type Lines = Line<keyof typeof columns>[];

interface Track {
  scratch: Scratch;
  dir: string;
  agents: Player<typeof import("./players.ts")>;
  bullmq: BullMq;
  signalbox: Ours;
  redis: ScratchRedis;
}

const sizes = { jobs: 2000, steps: 500, agents: 1000, idleSeconds: 10, deliveries: 100, otherJobs: 100_000 };
const quickSizes = { jobs: 50, steps: 50, agents: 20, idleSeconds: 5, deliveries: 2, otherJobs: 1000 };
const kindsOfOtherJobs = [1, 1000];
const otherAgents = 200;
const sizesOf = ({ quick }: Options) => (quick ? quickSizes : sizes);
/** A lone agent takes so much longer. */
const jobsShare = { 1: 0.1, 20: 1, 200: 1 };
const waitingAgents = [20, 200];
const logs = { jobs: 20, parallel: 3 };

const measures = {
  jobs: measureHandOuts,
  shapes: measureShapes,
  delays: measureDelays,
  idle: measureIdle,
  logs: measureLogs,
  artifacts: ({ scratch, agents, signalbox }: Track, options: Options): Promise<Lines> => {
    const { url, pids, add } = signalbox;
    const ours = { name: "signalbox" as const, url, pid: pids.server ?? 0, agents, add };
    return measureArtifacts(scratch, [ours], options);
  },
};

export const agents: Bench<keyof typeof measures> = {
  name: "agents",
  summary: "jobs taken, idle agents, logs and artifacts, beside BullMQ and plain files",
  description: [
    "How many jobs a second agents take and finish, beside a worker of BullMQ that takes as many from Redis and does " +
      "nothing with them; how long a job waits for an idle agent; what idle agents cost; and how fast logs come in, " +
      "beside the same bodies appended to files; and how fast artifacts come and go, beside a server by hand.",
    "The jobs of one build decide about each other: those side by side about nothing, each of a chain about the next one.",
    "A job of ours is four calls (ping, accept, start, finish), each committed to the database before its answer.",
  ],
  parts: ["jobs", "shapes", "delays", "idle", "logs", "artifacts"],
  seconds: 2.5,
  rounds: 3,
  measure: (options, wanted) =>
    withScratch(async (scratch) => {
      const redis = await startRedis(scratch);
      const signalbox = await startOurs(scratch, redis, options.postgres);
      const track: Track = {
        scratch,
        dir: scratch.dir,
        agents: startPlayer(scratch, "agents/players.ts"),
        bullmq: startBullMq(scratch, redis),
        signalbox,
        redis,
      };
      const lines = await measureRegistrations(track, options);
      for (const part of wanted) lines.push(...(await measures[part](track, options)));
      return { tables: [compare(columns, lines)], legend: legendOf(options) };
    }),
};

async function measureRegistrations({ agents, signalbox }: Track, options: Options): Promise<Lines> {
  const count = sizesOf(options).agents;
  step(`Registering ${count} agents`);
  const { url, seed, pids } = signalbox;
  const registered = await cpuPerRequest(pids, () => agents.registerAll(url, seed.agentToken, count));
  return rateLines("agents that register and connect at once/s", [{ signalbox: registered }]);
}

function rateLines(
  title: string,
  rounds: { [Name in keyof typeof columns]?: { accepted: number; seconds: number; cpu: Pids } }[],
  aims: Lines[number]["aims"] = {},
): Lines {
  return [
    lineOf(title, rounds, ({ accepted, seconds }) => accepted / seconds, aims),
    ...cpuLines("  ", rounds, ({ cpu }) => cpu),
  ];
}

async function measureHandOuts(
  { agents, bullmq, signalbox, redis }: Track,
  options: Options,
): Promise<Lines> {
  const lines: Lines = [];
  for (const [text, share] of Object.entries(jobsShare)) {
    const count = Math.min(Number(text), sizesOf(options).agents);
    const jobs = Math.ceil(sizesOf(options).jobs * share);
    const { server = 0, worker: _, ...others } = signalbox.pids; // the worker has no part in it
    const contestants = [
      {
        name: "bullmq" as const,
        pids: pidsOf({ "server or worker": bullmq, Redis: redis }),
        add: bullmq.add,
        take: () => bullmq.take(jobs, count),
      },
      {
        name: "signalbox" as const,
        pids: { "server or worker": server, ...others },
        add: signalbox.add,
        take: () => agents.takeJobs(count, jobs),
      },
    ];
    const title = `${text} agents: jobs/s`;
    const { rounds } = options;
    const found = await interleave(contestants, { rounds, title }, async ({ pids, add, take }) => {
      await add(jobs);
      return cpuPerRequest(pids, take);
    });
    lines.push(...rateLines(title, found, text === "200" ? { bullmq: "≥ 0.25" } : {}));
  }
  return lines;
}

/** One build has all jobs, so that each of them decides about the others. */
async function measureShapes({ agents, signalbox }: Track, options: Options): Promise<Lines> {
  const { steps: jobs, agents: registered } = sizesOf(options);
  const count = Math.min(20, registered);
  const lines: Lines = [];
  for (const [shape, stepsOf] of Object.entries(shapes)) {
    const course = { rounds: options.rounds, title: `${jobs} jobs ${shape}` };
    const rounds = await interleave([{ name: "signalbox" as const }], course, async () => {
      const steps = stepsOf(jobs);
      await signalbox.addSteps(steps);
      return cpuPerRequest({ server: signalbox.pids.server ?? 0 }, () => agents.takeJobs(count, jobs));
    });
    lines.push(...rateLines(`${jobs} jobs of a build ${shape}: jobs/s`, rounds));
  }
  return lines;
}

async function measureDelays({ agents, signalbox }: Track, options: Options): Promise<Lines> {
  const lines: Lines = [];
  const { deliveries, agents: registered } = sizesOf(options);
  for (const most of waitingAgents) {
    const count = Math.min(most, registered);
    step(`Deliveries to ${count} idle agents`);
    const post = { url: signalbox.seed.deliveryUrl, body: pushPayload(kilobyte), deliveries };
    const found = [{ signalbox: await agents.deliver(count, post) }];
    lines.push(
      lineOf(`${most} idle agents: p50 ms from 201 to accept`, found, (delays) => percentile(delays, 0.5)),
      lineOf("  p95 ms", found, (delays) => percentile(delays, 0.95)),
    );
  }
  return lines;
}

async function measureIdle({ agents, signalbox }: Track, options: Options): Promise<Lines> {
  const { agents: count, idleSeconds } = sizesOf(options);
  const course = { rounds: options.rounds, title: `${count} idle agents` };
  const rounds = await interleave([{ name: "signalbox" as const }], course, (_, isWarmUp) =>
    cpuPerRequest(signalbox.pids, () => agents.idle(count, isWarmUp ? 1 : idleSeconds)),
  );
  const share = ({ cpu, accepted, seconds }: { cpu: Pids; accepted: number; seconds: number }) =>
    (100 * (cpu.server ?? Number.NaN) * accepted) / 1e6 / seconds;
  return [
    lineOf(`${count} idle agents: server, % of a core`, rounds, share, { signalbox: "≤ 10" }),
    ...rateLines("  pings/s", rounds),
    ...(await measureOtherJobs({ agents, signalbox }, options)),
  ];
}

/** The same agents on queues whose jobs wait for other tags, in turns with agents of an empty queue. */
async function measureOtherJobs(
  { agents, signalbox }: Pick<Track, "agents" | "signalbox">,
  options: Options,
): Promise<Lines> {
  const { agents: registered, idleSeconds, otherJobs: jobs } = sizesOf(options);
  const count = Math.min(registered, otherAgents);
  const contestants = [{ name: "none", from: 0 }];
  const tokens: string[] = [];
  for (const kinds of kindsOfOtherJobs) {
    const name = `${kinds} kinds`;
    step(`Making ${jobs} jobs of ${name}`);
    const token = await signalbox.addOtherJobs({ key: `other-${kinds}`, kinds, jobs });
    contestants.push({ name, from: registered + tokens.length * count });
    tokens.push(token);
  }
  if (!options.quick) {
    step("Waiting a minute: an address may register only so many agents in one");
    await sleep(minuteMs);
  }
  for (const token of tokens) await agents.registerAll(signalbox.url, token, count);
  const course = { rounds: options.rounds, title: `${count} idle agents, ${jobs} other jobs` };
  const found = await interleave(contestants, course, ({ from }, isWarmUp) =>
    cpuPerRequest(signalbox.pids, () => agents.idle(count, isWarmUp ? 1 : idleSeconds, from)),
  );
  return kindsOfOtherJobs.map((kinds) => {
    const ratios = found.map((round) => ({ signalbox: cpuOf(round[`${kinds} kinds`]) / cpuOf(round.none) }));
    const title = `  CPU beside ${jobs} waiting jobs of ${kinds} other tags ÷ none`;
    return lineOf(title, ratios, (ratio) => ratio, { signalbox: "≤ 1.5" });
  });
}

/** Without Redis and the worker, which have no part in a ping. */
function cpuOf(turn: { cpu: Pids } | undefined): number {
  const { server = Number.NaN, Postgres = 0 } = turn?.cpu ?? {};
  return server + Postgres;
}

async function measureLogs({ dir, agents, signalbox }: Track, options: Options): Promise<Lines> {
  const { rounds, seconds } = options;
  const order = { ...logs, jobs: Math.min(logs.jobs, sizesOf(options).agents), seconds };
  const contestants = [
    { name: "files" as const, pid: process.pid, take: () => writeFiles(dir, order) },
    {
      name: "signalbox" as const,
      pid: signalbox.pids.server ?? 0,
      take: async () => {
        await signalbox.add(order.jobs);
        return agents.sendLogs(order.jobs, order);
      },
    },
  ];
  const title = "logs: MB/s";
  const found = await interleave(contestants, { rounds, title }, ({ pid, take }) =>
    cpuPerRequest({ "MB: server or writer": pid }, async () => {
      const { bytes, seconds } = await take();
      return { accepted: bytes / megabyte, seconds };
    }),
  );
  return rateLines(title, found);
}

function legendOf(options: Options): string[] {
  const { jobs, idleSeconds, deliveries } = sizesOf(options);
  return [
    `${mediansOf(options.rounds)}: ${jobs} jobs a turn (a tenth for one agent), ${idleSeconds} s a turn of idle agents, ${options.seconds} s a turn of logs and artifacts;`,
    `${deliveries} deliveries, one after the other. Idle agents ping every 2 to 4 s.`,
    ratioLegend,
    "CPU µs are of one job, call or MB, by process.",
  ];
}
