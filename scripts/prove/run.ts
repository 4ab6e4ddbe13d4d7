import { setTimeout as sleep } from "node:timers/promises";
import { withServices } from "../scratch/installation.ts";
import { step } from "../scratch/progress.ts";
import type { Scratch } from "../scratch/scratch.ts";
import { startContainers } from "./containers/subject.ts";
import { awaitConvergence, awaitReadiness, type Convergence, checkConvergence } from "./converge.ts";
import type { Sample } from "./growth/sample.ts";
import { checkGrowth } from "./growth/watch.ts";
import type { DatabaseName } from "./installation/installation.ts";
import { readRuns } from "./installation/marks.ts";
import { startProcesses } from "./installation/subject.ts";
import { checkComparisons, countComparisons } from "./ledger/artifacts.ts";
import type { Discrepancy } from "./ledger/discrepancy.ts";
import { checkLedger, checkOutliving } from "./ledger/ledger.ts";
import { type Ledger, readLedger } from "./ledger/read.ts";
import { sweepArtifacts } from "./ledger/read-artifacts.ts";
import { checkLateWrites, listOverAttempts } from "./ledger/stale.ts";
import { checkTraffic, isEnough, measureTraffic, type Traffic } from "./ledger/traffic.ts";
import { showProgress } from "./progress.ts";
import { randomNumbers } from "./random.ts";
import { Timeline } from "./timeline.ts";
import type { Observed } from "./traffic/observed.ts";
import { startTraffic } from "./traffic/traffic.ts";

export interface ProveOptions {
  /** The run goes on for up to three times as long while too little has come through. */
  minutes: number;
  seed: number;
  database: DatabaseName;
  /** Kinds of faults. Undefined: all. Empty: none. */
  faults?: string[];
  /** A project of Compose to prove, instead of processes of this machine. */
  compose?: string;
  perSecond: number;
  /** Seconds that all may take to end after the last fault. */
  patience: number;
  /** Folder for the output of the processes. */
  logs?: string;
  /** Folder of a bundle that the processes run. Undefined: they run the sources. */
  bundle?: string;
}

export interface Proved {
  timeline: Timeline;
  observed: Observed;
  through: Traffic;
  ranMinutes: number;
  /** Kinds that were not injected, with the reason. */
  missing: { kind: string; reason: string }[];
  counts: Record<
    ("deliveries" | "builds" | "grants" | "jobs" | "attempts" | "runs") | ("agents" | "deadAgents"),
    number
  > & { jobStates: string; artifacts: string };
  convergence: Convergence;
  /** The way in which the database's structure was checked. */
  wholeBy: string;
  /** Of a run without faults. */
  samples: Sample[];
  discrepancies: Discrepancy[];
}

const calmMs = 2000;
/** A run goes on for up to so many times its length: a busy machine lets less through in the same time. */
const maxExtension = 2;

export async function prove(scratch: Scratch, options: ProveOptions): Promise<Proved> {
  const { minutes, seed, database, faults, compose: project, perSecond, logs, bundle } = options;
  const patienceMs = options.patience * 1000;
  const timeline = new Timeline();
  step(`Starting an installation ${project ? `of containers, ${project}` : `on ${database}`}, seed ${seed}`);
  const subject = project
    ? await startContainers(scratch, { project, faults, logs })
    : await startProcesses(scratch, timeline, { database, faults, logs, bundle });
  const { installation, commands } = subject;
  await awaitReadiness(installation.urls, subject.listMissingAgents);

  const traffic = startTraffic(installation, timeline, seed);
  const totalMs = timeline.nowMs() + minutes * 60_000;
  const progress = showProgress(timeline, traffic.observed, totalMs);
  const hasEnough = () => isEnough(measureTraffic(traffic.observed, timeline), minutes);
  await sleep(calmMs);
  const random = randomNumbers(seed);
  const growth = faults?.length === 0 ? subject.watchGrowth?.() : undefined;
  const schedule = growth ?? subject.startFaults({ perSecond, random, timeline });
  const startedAt = performance.now();
  await sleep(minutes * 60_000);
  for (let second = 0; second < maxExtension * minutes * 60 && !hasEnough(); second++) await sleep(1000);
  const ranMinutes = (performance.now() - startedAt) / 60_000;
  await schedule.stop();
  const quietSince = performance.now();
  await traffic.stop();
  progress.stop();
  step("No more faults; waiting until all is built and fanned out");
  const convergence = await withServices(installation.installed, (services) =>
    awaitConvergence(installation, services, { startedAt: quietSince, patienceMs }),
  );
  await sleep(calmMs); // a late job that builds twice shows now
  commands?.stop();
  await traffic.end();
  step("Reading the ledger");
  const runs = readRuns(installation.marksFolder);
  if (subject.hasBlobs) await withServices(installation.installed, sweepArtifacts);
  const read = () =>
    withServices(installation.installed, ({ db, blobs }) =>
      readLedger(db, subject.hasBlobs ? blobs : undefined),
    );
  await traffic.writeLate(listOverAttempts(await read(), runs));
  const ledger = await read();
  const through = measureTraffic(traffic.observed, timeline);
  const { wholeBy, discrepancies } = subject.checkEnd();
  return {
    timeline,
    observed: traffic.observed,
    through,
    ranMinutes,
    missing: subject.missing,
    counts: {
      deliveries: ledger.deliveries.length,
      builds: ledger.builds.length,
      grants: ledger.grants.length,
      jobs: ledger.jobs.length,
      jobStates: countStates(ledger.jobs),
      artifacts: countArtifacts(ledger),
      attempts: ledger.jobs.reduce((sum, { attempt }) => sum + attempt, 0),
      runs: runs.length,
      agents: ledger.agents.length,
      deadAgents: commands?.countDeaths() ?? 0,
    },
    convergence,
    wholeBy,
    samples: growth?.samples ?? [],
    discrepancies: [
      ...checkLedger(traffic.observed, ledger, runs),
      ...checkLateWrites(traffic.observed.lateWrites, ledger),
      ...checkTraffic(through, minutes),
      ...checkComparisons(ledger.jobs, minutes),
      ...checkOutliving(commands?.found ?? []),
      ...discrepancies,
      ...checkConvergence(convergence, patienceMs),
      ...checkGrowth(growth?.samples ?? []),
    ],
  };
}

function countArtifacts({ artifacts, blobs, jobs }: Ledger): string {
  const stored = blobs ? `${blobs.size} blobs` : "their bytes out of reach";
  return `${artifacts.length}: ${countStates(artifacts)}; ${stored}; ${countComparisons(jobs)} jobs passed that compare downloads`;
}

function countStates(jobs: { state: string }[]): string {
  const states = Map.groupBy(jobs, ({ state }) => state);
  return [...states].map(([state, own]) => `${state} ${own.length}`).join(", ");
}
