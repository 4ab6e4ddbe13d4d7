import { setTimeout as sleep } from "node:timers/promises";
import { step } from "../bench/progress.ts";
import type { Scratch } from "../bench/scratch.ts";
import { withServices } from "../bench/signalbox.ts";
import { awaitConvergence, awaitReadiness, type Convergence, checkConvergence } from "./converge.ts";
import type { Fault } from "./faults/fault.ts";
import { startFaults } from "./faults/schedule.ts";
import { type DatabaseName, startInstallation } from "./installation/installation.ts";
import { readRuns } from "./installation/marks.ts";
import type { Discrepancy } from "./ledger/discrepancy.ts";
import { checkCrashes, checkLedger, checkOutliving } from "./ledger/ledger.ts";
import { readLedger } from "./ledger/read.ts";
import { checkStaleWrites } from "./ledger/stale.ts";
import { checkWhole } from "./ledger/whole.ts";
import { watchCommands } from "./outliving.ts";
import { showProgress } from "./progress.ts";
import { randomNumbers } from "./random.ts";
import { Timeline } from "./timeline.ts";
import type { Observed } from "./traffic/observed.ts";
import { startTraffic } from "./traffic/traffic.ts";

export interface ProveOptions {
  minutes: number;
  seed: number;
  database: DatabaseName;
  faults: Fault[];
  perSecond: number;
  /** Folder for the output of the processes. */
  logs?: string;
}

export interface Proved {
  timeline: Timeline;
  observed: Observed;
  /** Kinds that were not injected, with the reason. */
  missing: { kind: string; reason: string }[];
  counts: Record<
    | ("deliveries" | "builds" | "grants" | "jobs" | "attempts" | "runs")
    | ("agents" | "deadAgents" | "staleWrites"),
    number
  > & { jobStates: string };
  convergence: Convergence;
  /** The way in which the database's structure was checked. */
  wholeBy: string;
  discrepancies: Discrepancy[];
}

const calmMs = 2000;

export async function prove(scratch: Scratch, options: ProveOptions): Promise<Proved> {
  const { minutes, seed, database, faults: wanted, perSecond, logs } = options;
  const timeline = new Timeline();
  step(`Starting an installation on ${database}, seed ${seed}`);
  const installation = await startInstallation(scratch, { database, timeline, logs });
  await awaitReadiness(installation);
  const faults = wanted.filter((fault) => !fault.missing?.(installation));

  const commands = watchCommands(installation, timeline);
  const traffic = startTraffic(installation, timeline, seed);
  const totalMs = timeline.nowMs() + minutes * 60_000;
  const progress = showProgress(timeline, traffic.observed, totalMs);
  await sleep(calmMs);
  const random = randomNumbers(seed);
  const schedule = startFaults({ installation, faults, perSecond, random, timeline });
  await sleep(minutes * 60_000);
  await schedule.stop();
  const quietSince = performance.now();
  await traffic.stop();
  progress.stop();
  step("No more faults; waiting until all is built and fanned out");
  const convergence = await withServices(installation.installed, (services) =>
    awaitConvergence(installation, services, quietSince),
  );
  await sleep(calmMs); // a late job that builds twice shows now
  commands.stop();
  step("Reading the ledger");
  const runs = readRuns(installation.marksFolder);
  const read = () => withServices(installation.installed, ({ db }) => readLedger(db));
  const url = installation.urls[0] ?? "";
  const stale = await checkStaleWrites(url, await read(), runs);
  const ledger = await read();
  const whole = checkWhole(installation);
  return {
    timeline,
    observed: traffic.observed,
    missing: wanted.flatMap(({ kind, missing }) => {
      const reason = missing?.(installation);
      return reason ? { kind, reason } : [];
    }),
    counts: {
      deliveries: ledger.deliveries.length,
      builds: ledger.builds.length,
      grants: ledger.grants.length,
      jobs: ledger.jobs.length,
      jobStates: countStates(ledger.jobs),
      attempts: ledger.jobs.reduce((sum, { attempt }) => sum + attempt, 0),
      runs: runs.length,
      agents: ledger.agents.length,
      deadAgents: commands.countDeaths(),
      staleWrites: stale.sent,
    },
    convergence,
    wholeBy: whole.by,
    discrepancies: [
      ...checkLedger(traffic.observed, ledger, runs),
      ...stale.discrepancies,
      ...checkOutliving(commands.found),
      ...whole.discrepancies,
      ...checkCrashes(installation),
      ...checkConvergence(convergence),
    ],
  };
}

function countStates(jobs: { state: string }[]): string {
  const states = Map.groupBy(jobs, ({ state }) => state);
  return [...states].map(([state, own]) => `${state} ${own.length}`).join(", ");
}
