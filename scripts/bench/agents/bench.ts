import { percentile } from "../../scratch/figures.ts";
import { step } from "../../scratch/progress.ts";
import { type Scratch, withScratch } from "../../scratch/scratch.ts";
import type { Bench, Options } from "../bench.ts";
import { kilobyte, pushPayload } from "../bodies.ts";
import {
  compare,
  type Done,
  interleave,
  type Line,
  lineOf,
  mediansOf,
  rateLines,
  ratioLegend,
} from "../comparison.ts";
import { cpuPerRequest } from "../machine/cpu.ts";
import { startPlayer } from "../player.ts";
import { startRedis } from "../servers/redis.ts";
import { startSignalbox } from "../servers/signalbox.ts";
import { addBuilds, createTenant } from "../servers/tenant.ts";
import { startBullMq } from "./bullmq.ts";

/** In the table's order. */
const columns = { bullmq: "BullMQ", signalbox: "Signalbox" };

type Track = Awaited<ReturnType<typeof startTrack>>;

const sizes = { jobs: 2000, agents: 1000, idleSeconds: 10, deliveries: 100 };
const quickSizes = { jobs: 50, agents: 20, idleSeconds: 5, deliveries: 2 };
const sizesOf = ({ quick }: Options) => (quick ? quickSizes : sizes);
/** A lone agent takes so much longer. */
const jobsShare = { 1: 0.1, 20: 1, 200: 1 };
const waitingAgents = [20, 200];

const measures: Record<string, (track: Track, options: Options) => Promise<Line[]>> = {
  async jobs({ agents, bullmq, ours, add, redis }, options) {
    const lines: Line[] = [];
    for (const [text, share] of Object.entries(jobsShare)) {
      const count = Math.min(Number(text), sizesOf(options).agents);
      const jobs = Math.ceil(sizesOf(options).jobs * share);
      const { server, worker: _, ...others } = ours.pids; // the worker has no part in it
      const theirs = { "server or worker": bullmq.pid, Redis: redis.pid };
      const contestants = [
        { name: "bullmq", pids: theirs, add: bullmq.add, take: () => bullmq.take(jobs, count) },
        {
          name: "signalbox",
          pids: { "server or worker": server, ...others },
          add,
          take: () => agents.takeJobs(count, jobs),
        },
      ];
      const course = { rounds: options.rounds, title: `${text} agents: jobs/s` };
      const found = await interleave(contestants, course, async ({ pids, add, take }) => {
        await add(jobs);
        return cpuPerRequest(pids, take);
      });
      lines.push(...rateLines(course.title, found, text === "200" ? { bullmq: "≥ 0.25" } : {}));
    }
    return lines;
  },

  async delays({ agents, ours }, options) {
    const lines: Line[] = [];
    const { deliveries, agents: registered } = sizesOf(options);
    for (const most of waitingAgents) {
      const count = Math.min(most, registered);
      step(`Deliveries to ${count} idle agents`);
      const post = { url: ours.seed.deliveryUrl, body: pushPayload(kilobyte), deliveries };
      const found = [{ signalbox: await agents.deliver(count, post) }];
      lines.push(
        lineOf(`${most} idle agents: p50 ms from 201 to accept`, found, (delays) => percentile(delays, 0.5)),
        lineOf("  p95 ms", found, (delays) => percentile(delays, 0.95)),
      );
    }
    return lines;
  },

  async idle({ agents, ours }, options) {
    const { agents: count, idleSeconds } = sizesOf(options);
    const title = `${count} idle agents`;
    const found = await interleave(
      [{ name: "signalbox" }],
      { rounds: options.rounds, title },
      (_, isWarmUp) => cpuPerRequest(ours.pids, () => agents.idle(count, isWarmUp ? 1 : idleSeconds)),
    );
    const share = ({ cpu, accepted, seconds }: Done) =>
      (100 * (cpu.server ?? Number.NaN) * accepted) / 1e6 / seconds;
    return [
      lineOf(`${title}: server, % of a core`, found, share, { signalbox: "≤ 10" }),
      ...rateLines("  pings/s", found),
    ];
  },
};

export const agents: Bench = {
  name: "agents",
  summary: "jobs taken, and what idle agents cost, beside BullMQ",
  description: [
    "How many jobs a second agents take and finish, beside a worker of BullMQ that takes as many from Redis and does " +
      "nothing with them; how long a job waits for an idle agent; and what idle agents cost.",
    "A job of ours is four calls (ping, accept, start, finish), each committed to the database before its answer.",
  ],
  parts: Object.keys(measures),
  seconds: 2.5,
  rounds: 3,
  measure: (options, wanted) =>
    withScratch(async (scratch) => {
      const track = await startTrack(scratch, options);
      const { agents, ours } = track;
      const count = sizesOf(options).agents;
      step(`Registering ${count} agents`);
      const register = () => agents.registerAll(ours.url, ours.seed.agentToken, count);
      const registered = [{ signalbox: await cpuPerRequest(ours.pids, register) }];
      const lines = rateLines("agents that register and connect at once/s", registered);
      for (const part of wanted) lines.push(...((await measures[part]?.(track, options)) ?? []));
      return { tables: [compare(columns, lines)], legend: legendOf(options) };
    }),
};

async function startTrack(scratch: Scratch, { postgres }: Options) {
  const redis = await startRedis(scratch);
  const ours = await startSignalbox(scratch, redis, {
    name: "agents",
    postgres,
    seed: async (services) => (await createTenant(services)).tenant,
  });
  await ours.startWorker();
  return {
    redis,
    ours,
    bullmq: startBullMq(scratch, redis),
    agents: startPlayer<typeof import("./players.ts")>(scratch, "agents/players.ts"),
    /** Lets jobs wait, one a build. */
    add: (count: number) => ours.withServices((services) => addBuilds(services, ours.seed.pipelineId, count)),
  };
}

function legendOf(options: Options): string[] {
  const { jobs, idleSeconds, deliveries } = sizesOf(options);
  return [
    `${mediansOf(options.rounds)}: ${jobs} jobs a turn (a tenth for one agent), ${idleSeconds} s a turn of idle agents;`,
    `${deliveries} deliveries, one after the other. Idle agents ping every 2 to 4 s.`,
    ratioLegend,
    "CPU µs are of one job or call, by process.",
  ];
}
