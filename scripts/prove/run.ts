import { setTimeout as sleep } from "node:timers/promises";
import { minuteMs } from "../../shared/durations.ts";
import { withServices } from "../scratch/installation.ts";
import { step } from "../scratch/progress.ts";
import type { Scratch } from "../scratch/scratch.ts";
import { isSoon } from "../scratch/wait.ts";
import { startContainers } from "./containers/subject.ts";
import { awaitConvergence, awaitReadiness, checkConvergence } from "./converge.ts";
import { checkGrowth } from "./growth/watch.ts";
import type { DatabaseName } from "./installation/installation.ts";
import { readRuns } from "./installation/marks.ts";
import { startProcesses } from "./installation/subject.ts";
import { checkComparisons } from "./ledger/artifacts.ts";
import { checkLedger } from "./ledger/ledger.ts";
import { checkNews } from "./ledger/news.ts";
import { readLedger, sweepArtifacts } from "./ledger/read.ts";
import { listOverAttempts } from "./ledger/stale.ts";
import { checkTraffic, isEnough, measureTraffic } from "./ledger/traffic.ts";
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
}

export type Proved = Awaited<ReturnType<typeof prove>>;

const calmMs = 2000;
const progressEveryMs = 15_000;
/** A run goes on for up to so many times its length, or so long: a busy machine lets less through in the same time. */
const maxExtension = 2;
const minExtensionMs = 2 * minuteMs;

export async function prove(scratch: Scratch, options: ProveOptions) {
  const { minutes, seed, database, faults, compose: project, perSecond } = options;
  const patienceMs = options.patience * 1000;
  const timeline = new Timeline();
  step(`Starting an installation ${project ? `of containers, ${project}` : `on ${database}`}, seed ${seed}`);
  const subject = project
    ? await startContainers(scratch, { ...options, project })
    : await startProcesses(scratch, timeline, options);
  const { installation, commands } = subject;
  await awaitReadiness(installation.urls, subject.listMissingAgents);

  const traffic = startTraffic(installation, timeline, seed);
  const { observed } = traffic;
  const hasEnough = () => isEnough(measureTraffic(observed, timeline), minutes);
  await sleep(calmMs);
  const random = randomNumbers(seed);
  const growth = faults?.length === 0 ? subject.watchGrowth?.() : undefined;
  const schedule = growth ?? subject.startFaults({ perSecond, random, timeline });
  const progress = setInterval(() => step(describeProgress(observed, timeline)), progressEveryMs);
  const startedAt = performance.now();
  await sleep(minutes * minuteMs);
  const extensionMs = Math.max(maxExtension * minutes * minuteMs, minExtensionMs);
  await isSoon(hasEnough, { everyMs: 1000, withinMs: extensionMs });
  const ranMinutes = (performance.now() - startedAt) / minuteMs;
  await schedule.stop();
  const quietSince = performance.now();
  await traffic.stop();
  clearInterval(progress);
  step("No more faults; waiting until all is built and fanned out");
  const convergence = await withServices(installation.installed, (services) =>
    awaitConvergence(installation, services, { startedAt: quietSince, patienceMs }),
  );
  await sleep(calmMs); // a late job that builds twice shows now
  const outliving = commands?.stop() ?? [];
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
  const through = measureTraffic(observed, timeline);
  const { wholeBy, discrepancies } = subject.checkEnd();
  const samples = growth?.samples ?? [];
  return {
    timeline,
    observed,
    through,
    ledger,
    runs,
    ranMinutes,
    missing: subject.missing,
    convergence,
    wholeBy,
    samples,
    agentDeaths: commands?.countDeaths() ?? 0,
    discrepancies: [
      checkLedger(observed, ledger, runs),
      checkNews(installation.told, ledger),
      checkTraffic(through, minutes),
      checkComparisons(ledger.jobs, minutes),
      outliving,
      discrepancies,
      checkConvergence(convergence, patienceMs),
      checkGrowth(samples),
    ].flat(),
  };
}

function describeProgress(observed: Observed, timeline: Timeline): string {
  const { accepted, signedIn, assigned } = measureTraffic(observed, timeline);
  return [
    `${timeline.faults.length} faults`,
    `${accepted} of ${observed.posts.length} posts accepted`,
    `${signedIn} devices signed in`,
    `${assigned} jobs assigned`,
  ].join(", ");
}
