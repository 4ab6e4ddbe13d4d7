import type { Tx } from "../../db/database.ts";
import { later } from "../../tasks/store.ts";
import type { Build } from "../rows/build-store.ts";
import type { Job, JobFacts } from "../rows/job-store.ts";
import {
  deleteEntriesThatLeft,
  type Group,
  type GroupEntry,
  insertEntries,
  limitIfScheduled,
  listJobsWithoutEntry,
  markLimitedEntries,
  requireGroups,
} from "./entries-store.ts";
import { findPlace, latenessOf } from "./places.ts";

// A job of a concurrency group has an entry from its creation, or from when the last manual step before it was
// unblocked, until it ends. The transaction that changes jobs of a build brings its entries into line. It never locks a
// group: it leaves a task, which starts jobs (start.ts).
//
// | entry   | its job                           | event                       | next    |
// |---------|-----------------------------------|-----------------------------|---------|
// | (new)   | waiting                           | its dependencies have ended | limited |
// | limited | waits for its group alone         | the group has room          | holding |
// | holding | scheduled, or an agent has it     | it goes back to its queue   | holding |
// | any     |                                   | the job ends, or is blocked | (gone)  |

/** Jobs of a new build as they begin: those of groups wait for their group first. */
export function limitNewJobs(jobs: Job[]): Job[] {
  return jobs.map((job) =>
    job.state === "scheduled" && job.options?.concurrency_group !== undefined
      ? { ...job, state: "limited", limitedAt: job.createdAt, scheduledAt: null }
      : job,
  );
}

/** Returns true if some of the jobs belong to groups. */
export function haveGroups(jobs: Job[]): boolean {
  return jobs.some(({ options }) => options?.concurrency_group !== undefined);
}

/** Makes entries of the jobs of new builds. */
export async function insertEntriesOfBuilds(tx: Tx, made: { build: Build; jobs: Job[] }[]): Promise<void> {
  const byOrganization = Map.groupBy(
    made.filter(({ build }) => build.hasMembers),
    ({ build }) => build.organizationId,
  );
  for (const [organizationId, builds] of byOrganization) {
    const own = builds.map(({ build, jobs }) => ({ build, jobs: jobs.filter(isEntry) }));
    const groups = await requireGroupsOf(
      tx,
      organizationId,
      own.flatMap(({ jobs }) => jobs),
    );
    const entries = own.flatMap(({ build, jobs }) => {
      const timeMs = build.createdAt.getTime();
      const orderedAt = new Date(timeMs + latenessOf(build, timeMs, groupsOf(jobs, groups)));
      return jobs.map((job) => newEntry(job, groups, orderedAt));
    });
    await insertEntriesOf(tx, organizationId, entries);
  }
}

function isEntry({ state, options }: Job): boolean {
  return options?.concurrency_group !== undefined && (state === "waiting" || state === "limited");
}

type GroupsByName = Map<string, Group>;

function nameOf({ options }: Job): string {
  return options?.concurrency_group ?? "";
}

function requireGroupsOf(tx: Tx, organizationId: string, jobs: Job[]): Promise<GroupsByName> {
  return requireGroups(tx, organizationId, [...new Set(jobs.map(nameOf))]);
}

function groupsOf(jobs: Job[], groups: GroupsByName): Group[] {
  return [...new Set(jobs.map(nameOf))].map((name) => groups.get(name) as Group);
}

function newEntry(job: Job, groups: GroupsByName, orderedAt: Date): GroupEntry {
  const { concurrency = 1, concurrency_method } = job.options ?? {};
  return {
    jobId: job.id,
    groupId: (groups.get(nameOf(job)) as Group).id,
    buildId: job.buildId,
    standing: job.state === "limited" ? "limited" : "waiting",
    limit: concurrency,
    isEager: concurrency_method === "eager",
    priority: job.priority,
    orderedAt,
    position: job.position,
  };
}

/** Inserts entries, and leaves a task for the groups of limited entries. */
async function insertEntriesOf(tx: Tx, organizationId: string, entries: GroupEntry[]): Promise<void> {
  await insertEntries(tx, entries);
  await dueOfGroups(
    tx,
    organizationId,
    entries.filter(({ standing }) => standing === "limited"),
  );
}

/**
 * Brings the entries of a build into line with its jobs. Call it with the build locked, after its jobs changed.
 * @param scheduled jobs that were scheduled now
 * @returns those of them that have no group
 */
export async function settleEntries(
  tx: Tx,
  build: Build,
  { scheduled, now }: { scheduled: JobFacts[]; now: Date },
): Promise<JobFacts[]> {
  const added = await listJobsWithoutEntry(tx, build.id);
  if (added.length > 0) {
    const groups = await requireGroupsOf(tx, build.organizationId, added);
    const orderedAt = await findPlace(tx, build, groupsOf(added, groups));
    const jobs = added.map((job): Job => ({ ...job, state: "waiting" }));
    await insertEntriesOf(
      tx,
      build.organizationId,
      jobs.map((job) => newEntry(job, groups, orderedAt)),
    );
  }
  const limited = await limitIfScheduled(tx, { buildId: build.id, now });
  const changed = [
    ...(await markLimitedEntries(tx, { buildId: build.id })),
    ...(await deleteEntriesThatLeft(tx, { buildId: build.id })),
  ];
  await dueOfGroups(tx, build.organizationId, changed);
  const ids = new Set(limited.map(({ id }) => id));
  return scheduled.filter(({ id }) => !ids.has(id));
}

async function dueOfGroups(
  tx: Tx,
  organizationId: string,
  entries: Pick<GroupEntry, "groupId">[],
): Promise<void> {
  await later(tx, "group", organizationId, [...new Set(entries.map(({ groupId }) => groupId))]);
}
