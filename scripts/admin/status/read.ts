import { listOrganizationsStoring } from "../../../shared/accounts/organization-store.ts";
import { nearlyFull, storageOf } from "../../../shared/accounts/storage.ts";
import { findQueueWithWaitingJobs } from "../../../shared/agents/lease-store.ts";
import { countConnectedAgents } from "../../../shared/agents/list-store.ts";
import { DatabaseUnavailable, type Db, translateError } from "../../../shared/db/database.ts";
import { explainProblem, findProblem } from "../../../shared/db/health/problem.ts";
import { maxCounted } from "../../../shared/db/list-page.ts";
import { countJobsOfQueues } from "../../../shared/dispatch/store.ts";
import { hourMs, hourOf } from "../../../shared/durations.ts";
import { workQueues } from "../../../shared/jobs/define.ts";
import {
  listAllPausedQueues,
  listQueuesWithOwners,
  type QueueWithOwners,
} from "../../../shared/queues/store.ts";
import type { Services } from "../../../shared/services/services.ts";
import { findWaiting } from "../../../shared/triggers/deliveries/due-store.ts";
import { listRecentRefusalCounts } from "../../../shared/triggers/deliveries/refusal-counts-store.ts";

const maxQueues = 20;
const maxOrganizations = 20;

export type Status = Awaited<ReturnType<typeof readStatus>>;

/**
 * The present state of the installation: a few rows of each kind, by indexes. Counts stop at 1,000. A part that cannot
 * be read is null, and `problems` says why.
 * @param fault why a SQLite file cannot be opened
 */
export async function readStatus(services: Services, fault?: unknown) {
  const { db, clock, processes, jobs } = services;
  const since = new Date(hourOf(clock.now()).getTime() - hourMs);
  const problems = new Set<string>();
  const unlessAway = async <T>(read: () => Promise<T>): Promise<T | null> => {
    try {
      return await read();
    } catch (error) {
      const isOfDatabase = translateError(error) instanceof DatabaseUnavailable;
      const problem = findProblem(isOfDatabase ? (fault ?? error) : error, services.config.databaseUrl);
      const cause = error instanceof Error ? error.message : String(error);
      problems.add(problem ? explainProblem(problem) : `A part could not be read: ${cause}`);
      return null;
    }
  };
  const backgroundJobs = await Promise.all(
    workQueues.map(
      async (queue) => [queue, (await unlessAway(() => jobs.countStates(queue))) ?? null] as const,
    ),
  );
  return {
    at: clock.now(),
    processes:
      (await unlessAway(() => processes.list()))?.map(({ name, host, pid, startedAt }) => ({
        name,
        host,
        pid,
        started_at: startedAt,
      })) ?? null,
    background_jobs: Object.fromEntries(backgroundJobs),
    deliveries: await unlessAway(() => readDeliveries(db)),
    agents: await unlessAway(() => readAgents(db)),
    queues: await unlessAway(() => readQueues(db)),
    paused_queues: await unlessAway(() => readPausedQueues(db)),
    refused: await unlessAway(async () => ({ since, ...(await countRefusals(db, since)) })),
    nearly_full: await unlessAway(() => readNearlyFull(services)),
    disk: await unlessAway(() => readDisk(db)),
    problems: [...problems, ...(await readRedisProblem(services))],
  };
}

async function readRedisProblem({ checkRedis }: Services): Promise<string[]> {
  const { message, cause } = await checkRedis();
  return message ? [cause ? `${message} (${cause})` : message] : [];
}

async function readDeliveries(db: Db) {
  const { total, receivedAt } = await findWaiting(db, maxCounted);
  return { undecided: total, oldest_received_at: receivedAt ?? null };
}

async function readAgents(db: Db) {
  const agents = await countConnectedAgents(db, maxCounted);
  return { connected: [...agents.values()].reduce((sum, count) => sum + count, 0) };
}

/** Organizations near STORED_BYTES_PER_ORGANIZATION, or over it. */
async function readNearlyFull({ db, config }: Services) {
  const limit = config.storedBytesPerOrganization;
  const found = await listOrganizationsStoring(db, nearlyFull * limit, maxOrganizations);
  return found.map((each) => ({
    organization: each.slug,
    stored_bytes: each.storedBytes,
    limit,
    is_full: storageOf(config, each) === "full",
  }));
}

/** Queues with waiting jobs. */
async function readQueues(db: Db) {
  const ids: string[] = [];
  for (let id = await findQueueWithWaitingJobs(db, undefined); id && ids.length < maxQueues; ) {
    ids.push(id);
    id = await findQueueWithWaitingJobs(db, id);
  }
  const counts = await countJobsOfQueues(db, ids, maxCounted);
  const placed = await listQueuesWithOwners(db, ids);
  return ids.map((id) => ({ ...placeOf(placed.get(id)), waiting: 0, running: 0, ...counts.get(id) }));
}

async function readPausedQueues(db: Db) {
  const paused = await listAllPausedQueues(db, maxQueues);
  const placed = await listQueuesWithOwners(
    db,
    paused.map(({ id }) => id),
  );
  return paused.map(({ id, dispatchPausedAt, dispatchPausedNote }) => ({
    ...placeOf(placed.get(id)),
    paused_at: dispatchPausedAt,
    note: dispatchPausedNote,
  }));
}

async function countRefusals(db: Db, since: Date) {
  const rows = await listRecentRefusalCounts(db, since, maxCounted);
  const causes: Record<string, number> = {};
  for (const { cause, count } of rows) causes[cause] = (causes[cause] ?? 0) + count;
  return { causes };
}

/** Free bytes on SQLite only. */
async function readDisk(db: Db) {
  const { bytes, logBytes, freeBytes } = await db.measureSize();
  return { free_bytes: freeBytes ?? null, database_bytes: bytes + (logBytes ?? 0) };
}

function placeOf(placed: QueueWithOwners | undefined) {
  return (
    placed && { organization: placed.organization, cluster: placed.cluster.name, queue: placed.queue.key }
  );
}
