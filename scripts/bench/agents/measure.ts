import { kilobyte, megabyte, pushPayload } from "../bodies.ts";
import { cpuLines, perRequest } from "../both-loads.ts";
import { type Line, lineOf } from "../comparison.ts";
import { type CpuTimes, type Pids, withCpuTimes } from "../machine/cpu.ts";
import { step } from "../progress.ts";
import { ScratchRedis } from "../redis.ts";
import { interleave } from "../rounds.ts";
import { pidsOf, withScratch } from "../scratch.ts";
import { percentile } from "../statistics.ts";
import { type BullMq, startBullMq } from "./bullmq.ts";
import type { ContestantName, Lengths } from "./contestants.ts";
import { writeFiles } from "./files.ts";
import { type Agents, startAgents } from "./orders.ts";
import { type Signalbox, startSignalbox } from "./signalbox.ts";

export interface Track {
  dir: string;
  agents: Agents;
  bullmq: BullMq;
  signalbox: Signalbox;
  redis: ScratchRedis;
}

type Lines = Line<ContestantName>[];

/** The first line is the time of registering. */
export function withTrack(options: Lengths, work: (track: Track) => Promise<Lines>): Promise<Lines> {
  return withScratch(async (scratch) => {
    step("Starting the servers");
    const redis = await ScratchRedis.start(scratch);
    const signalbox = await startSignalbox(scratch, redis, options.postgres);
    const bullmq = startBullMq(scratch, redis);
    const agents = startAgents(scratch);
    step(`Registering ${options.agents} agents`);
    const { url, agentToken: token, pids } = signalbox;
    const count = options.agents;
    const registered = await measureCpu(pids, count, () => agents("register", { url, token, count }));
    const found = [{ signalbox: registered }];
    return [
      lineOf("agents that register and connect at once/s", found, ({ rate }) => rate),
      ...cpuLines("  ", found, ({ cpu }) => cpu),
      ...(await work({ dir: scratch.dir, agents, bullmq, signalbox, redis })),
    ];
  });
}

interface Measured {
  rate: number;
  /** CPU time of one job or call. */
  cpu: CpuTimes;
}

async function measureCpu(
  pids: Pids,
  count: number,
  work: () => Promise<{ seconds: number }>,
): Promise<Measured> {
  const { result, cpu } = await withCpuTimes(pids, work);
  return { rate: count / result.seconds, cpu: perRequest(cpu, count) };
}

/** A lone agent takes so much longer. */
const jobsShare = { 1: 0.1, 20: 1, 200: 1 };

export async function measureHandOuts(
  { agents, bullmq, signalbox, redis }: Track,
  { rounds, jobs: most, ...options }: Lengths,
): Promise<Lines> {
  const lines: Lines = [];
  for (const [text, share] of Object.entries(jobsShare)) {
    const count = Math.min(Number(text), options.agents);
    const jobs = Math.ceil(most * share);
    const contestants = [
      {
        name: "bullmq" as const,
        pids: pidsOf({ "server or worker": bullmq, Redis: redis }),
        add: bullmq.add,
        take: () => bullmq.take({ jobs, concurrency: count }),
      },
      {
        name: "signalbox" as const,
        pids: withoutWorker(signalbox.pids),
        add: signalbox.add,
        take: () => agents("takeJobs", { agents: count, jobs }),
      },
    ];
    const turn = async ({ pids, add, take }: (typeof contestants)[number]) => {
      await add(jobs);
      return measureCpu(pids, jobs, take);
    };
    await interleave(contestants, { rounds: 1, what: `${count} agents, warming up` }, turn);
    const results = await interleave(contestants, { rounds, what: `${count} agents, round` }, turn);
    lines.push(
      lineOf(
        `${text} agents: jobs/s`,
        results,
        ({ rate }) => rate,
        text === "200" ? { bullmq: "≥ 0.2" } : {},
      ),
      ...cpuLines("  ", results, ({ cpu }) => cpu),
    );
  }
  return lines;
}

/** Leaves out the worker, which has no part in hand-outs. */
function withoutWorker({ server = 0, worker: _, ...others }: Pids): Pids {
  return { "server or worker": server, ...others };
}

const waitingAgents = [20, 200];

export async function measureDelays(
  { agents, signalbox }: Track,
  { deliveries, ...options }: Lengths,
): Promise<Lines> {
  const lines: Lines = [];
  for (const most of waitingAgents) {
    const count = Math.min(most, options.agents);
    step(`Deliveries to ${count} idle agents`);
    const request = { agents: count, url: signalbox.deliveryUrl, body: pushPayload(kilobyte), deliveries };
    const { delays } = await agents("deliver", request);
    const sorted = delays.toSorted((a, b) => a - b);
    lines.push(
      lineOf(`${most} idle agents: p50 ms from 201 to accept`, [{ signalbox: sorted }], (all) =>
        percentile(all, 0.5),
      ),
      lineOf("  p95 ms", [{ signalbox: sorted }], (all) => percentile(all, 0.95)),
    );
  }
  return lines;
}

export async function measureIdle(
  { agents, signalbox }: Track,
  { rounds, idleSeconds: seconds, agents: count }: Lengths,
): Promise<Lines> {
  const { pids } = signalbox;
  const contestants = [{ name: "signalbox" as const }];
  const what = `${count} idle agents, round`;
  const results = await interleave(contestants, { rounds, what }, async () => {
    const { result, cpu } = await withCpuTimes(pids, () => agents("idle", { agents: count, seconds }));
    const share = (cpu.server ?? Number.NaN) / 1e6 / result.seconds;
    return { share, rate: result.calls / result.seconds, cpu: perRequest(cpu, result.calls) };
  });
  return [
    lineOf(`${count} idle agents: server, % of a core`, results, ({ share }) => 100 * share, {
      signalbox: "≤ 10",
    }),
    lineOf("  pings and heartbeats/s", results, ({ rate }) => rate),
    ...cpuLines("  ", results, ({ cpu }) => cpu),
  ];
}

const logJobs = 20;
const parallel = 3;

export async function measureLogs(
  { dir, agents, signalbox }: Track,
  { rounds, seconds, ...options }: Lengths,
): Promise<Lines> {
  const request = { jobs: Math.min(logJobs, options.agents), parallel, seconds };
  const contestants = [
    {
      name: "files" as const,
      pids: { "server or writer": process.pid },
      take: () => writeFiles(dir, request),
    },
    {
      name: "signalbox" as const,
      pids: { "server or writer": signalbox.pids.server ?? 0 },
      take: async () => {
        await signalbox.add(request.jobs);
        return agents("sendLogs", request);
      },
    },
  ];
  const turn = async ({ pids, take }: (typeof contestants)[number]) => {
    const { result, cpu } = await withCpuTimes(pids, take);
    const megabytes = result.bytes / megabyte;
    return { rate: megabytes / result.seconds, cpu: perRequest(cpu, megabytes) };
  };
  await interleave(contestants, { rounds: 1, what: "Logs, warming up" }, turn);
  const results = await interleave(contestants, { rounds, what: "Logs, round" }, turn);
  return [
    lineOf("logs: MB/s", results, ({ rate }) => rate),
    ...cpuLines("  MB: ", results, ({ cpu }) => cpu),
  ];
}
