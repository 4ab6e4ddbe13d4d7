import type { JobFacts } from "../../builds/rows/job-store.ts";
import { refreshPausesOf } from "../../builds/rows/pause-store.ts";
import { cancelJobsIfUnfinished, lockBuilds } from "../../builds/rows/progress-store.ts";
import { restBetweenTransactions } from "../../db/batches.ts";
import type { Services } from "../../services/services.ts";
import { endTasks, later, listTasks } from "../../tasks/store.ts";
import { finishedBuildStates } from "../../vocabulary.ts";
import { report } from "../lease.ts";
import { hasListenedFor } from "../lost.ts";
import { listReservedBy, listReservedUntil, releaseIfReserved } from "./job-store.ts";
import { maxSilenceMs } from "./register.ts";
import { findStackById, listUnheardStacks, loseIfUnheard } from "./store.ts";

/** A transaction locks as many builds at most. */
const jobsPerTransaction = 20;
const batchStacks = 100;

type Reserved = Awaited<ReturnType<typeof listReservedUntil>>;

/** reserved → scheduled, of jobs whose reservation has ended; in a build that has finished, canceled. */
export async function releaseExpired(services: Services): Promise<void> {
  const until = services.clock.now();
  for (;;) {
    const jobs = await listReservedUntil(services.db, until, jobsPerTransaction);
    const released = await release(services, jobs, { until });
    if (jobs.length < jobsPerTransaction || released === 0) return;
    await restBetweenTransactions();
  }
}

/**
 * reserved → scheduled, of the next jobs of a stack that is gone or lost.
 * @param place the last job of the slice before
 */
export async function releaseOfStack(
  services: Services,
  stackId: string,
  place?: { afterId: string },
): Promise<{ afterId: string } | undefined> {
  const { db } = services;
  const due = await listTasks(db, "stack", stackId);
  const stack = await findStackById(db, stackId);
  const isOver = stack !== undefined && stack.lostAt === null; // it is back
  const afterId = place?.afterId;
  const jobs = isOver ? [] : await listReservedBy(db, stackId, { afterId, limit: jobsPerTransaction });
  await release(services, jobs, { stackId });
  const last = jobs[jobsPerTransaction - 1];
  if (last) return { afterId: last.id };
  await db.transaction((tx) => endTasks(tx, due));
  return undefined;
}

async function release(
  services: Services,
  jobs: Reserved,
  whose: Parameters<typeof releaseIfReserved>[2],
): Promise<number> {
  if (jobs.length === 0) return 0;
  const { builds, changed } = await services.db.transaction(async (tx) => {
    const builds = await lockBuilds(tx, [...new Set(jobs.map(({ buildId }) => buildId))]);
    const canceled: JobFacts[] = [];
    // Version 1.0.0 ends builds without their reserved jobs, which it does not know: a finished build runs nothing.
    for (const build of builds.filter(({ state }) => finishedBuildStates.includes(state)))
      canceled.push(
        ...(await cancelJobsIfUnfinished(tx, { build, reason: "The build has finished" }, tx.now)),
      );
    const ids = jobs.map(({ id }) => id);
    const released = await releaseIfReserved(tx, ids, whose);
    await refreshPausesOf(tx, released);
    return { builds, changed: [...canceled, ...released] };
  });
  for (const build of builds)
    report(
      services,
      build,
      changed.filter(({ buildId }) => buildId === build.id),
    );
  return changed.length;
}

/** connected → lost, of stacks that were silent for five minutes in which they could be heard. */
export async function loseSilentStacks(services: Services): Promise<void> {
  const { db, clock, events, log } = services;
  const now = clock.now();
  if (!(await hasListenedFor(db, now, maxSilenceMs))) return;
  const before = new Date(now.getTime() - maxSilenceMs);
  for (const { id, key, organizationId, clusterId } of await listUnheardStacks(db, before, batchStacks)) {
    const isLost = await db.transaction(async (tx) => {
      if (!(await loseIfUnheard(tx, id, before))) return false;
      await later(tx, "stack", organizationId, [id]);
      return true;
    });
    if (!isLost) continue;
    events.publish([`cluster:${clusterId}`]);
    log.warn({ stackId: id, key }, "a stack was lost");
  }
}
