import { refreshPauses } from "../../builds/rows/pause-store.ts";
import { lockBuilds } from "../../builds/rows/progress-store.ts";
import { lockQueueIfDispatching } from "../../dispatch/store.ts";
import { secondMs } from "../../durations.ts";
import { isId, lowerCaseId } from "../../ids.ts";
import type { Services } from "../../services/services.ts";
import { writes } from "../../sharing/resources.ts";
import { report } from "../lease.ts";
import type { Registrar } from "../tokens.ts";
import { type JobInQueue, listJobsOfCluster, reserveIfFree } from "./job-store.ts";
import { lockStackIfConnected, type Stack } from "./store.ts";

/** A transaction locks as many builds at most. */
const jobsPerTransaction = 20;

export interface Reserving {
  /** As they were given: ids of jobs, and what else a caller sends. */
  ids: string[];
  seconds: number;
}

/**
 * scheduled → reserved, for jobs of the token's cluster, or of its queue. Jobs that the stack has reserved stay so for
 * longer. No other stack gets them, and no ping.
 * @returns what was reserved and what was not, as given
 */
export async function reserveJobs(
  services: Services,
  { registrar, stack }: { registrar: Registrar; stack: Stack },
  { ids, seconds }: Reserving,
  signal: AbortSignal,
): Promise<{ reserved: string[]; notReserved: string[] }> {
  const until = new Date(services.clock.now().getTime() + seconds * secondMs);
  const byQueue = Map.groupBy(await listJobsOf(services, registrar, ids), ({ queueId }) => queueId ?? "");
  const reserved = new Set<string>();
  for (const [queueId, jobs] of byQueue)
    for (let start = 0; start < jobs.length; start += jobsPerTransaction) {
      const slice = jobs.slice(start, start + jobsPerTransaction);
      const reserve = () => reserveSlice(services, { stack, queueId, jobs: slice, until });
      for (const id of await writes.take(stack.organizationId, reserve, signal)) reserved.add(id);
    }
  const isReserved = (id: string) => reserved.has(lowerCaseId(id));
  return { reserved: ids.filter(isReserved), notReserved: ids.filter((id) => !isReserved(id)) };
}

/** Reads the jobs of these ids that the stacks of a token may run. */
export async function listJobsOf(
  { db }: Pick<Services, "db">,
  { cluster, queue }: Registrar,
  ids: string[],
): Promise<JobInQueue[]> {
  const wanted = [...new Set(ids.map(lowerCaseId))].filter(isId);
  if (wanted.length === 0) return [];
  const jobs = await listJobsOfCluster(db, { ids: wanted, clusterId: cluster.id });
  return jobs.filter(({ queueId }) => queue === null || queueId === queue.id);
}

/** Locks the stack, the queue, builds, then jobs. */
async function reserveSlice(
  services: Services,
  {
    stack,
    queueId,
    jobs,
    until,
  }: { stack: Stack; queueId: string; jobs: Pick<JobInQueue, "id" | "buildId">[]; until: Date },
): Promise<string[]> {
  const { builds, reserved } = await services.db.transaction(async (tx) => {
    if (!(await lockStackIfConnected(tx, stack.id))) return { builds: [], reserved: [] };
    const mayTake = (await lockQueueIfDispatching(tx, { id: queueId })) !== undefined;
    const builds = await lockBuilds(tx, [...new Set(jobs.map(({ buildId }) => buildId))]);
    const ids = jobs.map(({ id }) => id);
    const reserved = await reserveIfFree(tx, ids, { stackId: stack.id, until, mayTake });
    // As after an offer: a fan-out misses the builds of jobs that do not wait any more.
    const marked = builds.filter(({ pausedQueueId }) => pausedQueueId !== null).map(({ id }) => id);
    if (marked.length > 0) await refreshPauses(tx, marked);
    return { builds, reserved };
  });
  for (const build of builds)
    report(
      services,
      build,
      reserved.filter(({ buildId }) => buildId === build.id),
    );
  return reserved.map(({ id }) => id);
}
