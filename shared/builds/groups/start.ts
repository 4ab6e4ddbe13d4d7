import type { Db, Tx } from "../../db/database.ts";
import type { Services } from "../../services/services.ts";
import { endTasks, listTasks } from "../../tasks/store.ts";
import type { Build } from "../rows/build-store.ts";
import { dueOfScheduled } from "../rows/due-of-jobs.ts";
import type { JobFacts } from "../rows/job-store.ts";
import { lockBuilds } from "../rows/progress-store.ts";
import { buildTopics } from "../rows/topics.ts";
import { type Candidate, comparePlaces, decideStarts } from "./decide.ts";
import { lockGroup, setReached, startIfLimited, viewGroup } from "./decide-store.ts";
import type { Group } from "./entries-store.ts";

/** A transaction locks as many builds at most. */
const maxStarts = 20;
/** Limited entries that are looked at first. Only if none of them can start, more are. */
const firstLook = 200;
/** Rounds in which nothing started, because others changed the group between its reads. */
const maxFruitless = 10;

/**
 * Starts the jobs of a group that it has room for. Builds are locked before their group: it finds the jobs first, locks
 * their builds, and decides anew with the group locked, until it has locked those of all that start.
 */
export async function startLimitedJobs(services: Services, groupId: string): Promise<void> {
  const { db, events, log } = services;
  let buildIds = (await listStarts(db, groupId)).map(({ buildId }) => buildId);
  for (let fruitless = 0; fruitless < maxFruitless; ) {
    const { started, builds, next } = await db.transaction((tx) => startSome(tx, groupId, buildIds));
    for (const build of builds) {
      const jobs = started.filter((job) => job.buildId === build.id);
      if (jobs.length > 0) events.publish(buildTopics(build, jobs));
    }
    if (started.length > 0) log.info({ groupId, jobs: started.length }, "a concurrency group started jobs");
    if (!next) return;
    if (started.length === 0) fruitless++;
    buildIds = next;
  }
  throw new Error("Jobs of the group could not be started: others changed it meanwhile.");
}

interface Round {
  builds: Build[];
  started: JobFacts[];
  /** Builds to lock next. Absent: all is done. */
  next?: string[];
}

async function startSome(tx: Tx, groupId: string, buildIds: string[]): Promise<Round> {
  const builds = buildIds.length > 0 ? await lockBuilds(tx, [...new Set(buildIds)].sort()) : [];
  const group = await lockGroup(tx, groupId);
  const due = await listTasks(tx, "group", groupId);
  const starts = group ? await listStarts(tx, groupId) : [];
  const locked = new Set(builds.map(({ id }) => id));
  const ready = starts.filter(({ buildId }) => locked.has(buildId));
  const started =
    ready.length > 0
      ? await startIfLimited(
          tx,
          ready.map(({ jobId }) => jobId),
        )
      : [];
  await dueOfScheduled(tx, started);
  if (group) await moveReached(tx, group, ready, started);
  const isAll = ready.length === starts.length && starts.length < maxStarts;
  if (!isAll) return { builds, started, next: starts.map(({ buildId }) => buildId) };
  await endTasks(tx, due);
  return { builds, started };
}

/** Notes how far the group has come in its order. Eager entries overtake, and say nothing about it. */
async function moveReached(
  tx: Tx,
  { id, reachedAt, reachedBuildId }: Group,
  ready: Candidate[],
  started: JobFacts[],
): Promise<void> {
  const ids = new Set(started.map((job) => job.id));
  const ordered = ready.filter(({ jobId, isEager }) => !isEager && ids.has(jobId));
  const last = ordered.sort(comparePlaces).at(-1);
  if (!last) return;
  const reached = reachedAt && reachedBuildId ? { orderedAt: reachedAt, buildId: reachedBuildId } : undefined;
  if (!reached || comparePlaces(reached, last) < 0) await setReached(tx, id, last);
}

async function listStarts(db: Db | Tx, groupId: string): Promise<Candidate[]> {
  for (let maxLimited = firstLook; ; maxLimited *= 4) {
    const view = await viewGroup(db, groupId, maxLimited);
    const starts = decideStarts(view, maxStarts);
    if (starts.length > 0 || view.limited.length < maxLimited) return starts;
  }
}
