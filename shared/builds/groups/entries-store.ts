import { and, asc, eq, inArray, ne, notExists, type SQL, sql } from "drizzle-orm";
import type { Tx } from "../../db/database.ts";
import { prepared, valueFor } from "../../db/prepared.ts";
import type { Tables } from "../../db/schema.ts";
import { newIds } from "../../ids.ts";
import { finishedJobStates } from "../../vocabulary.ts";
import {
  factColumns,
  firstOfStep,
  type Job,
  type JobFacts,
  selectJobs,
  wholeJob,
} from "../rows/job-store.ts";

export type GroupEntry = Tables["concurrencyMembers"]["$inferSelect"];
export type Group = Tables["concurrencyGroups"]["$inferSelect"];

/**
 * Finds groups of an organization by their names, and makes those that are missing. Locks them: none of them lets a build
 * in until the commit. Builds are locked before. @returns by name
 */
export async function requireGroups(
  tx: Tx,
  organizationId: string,
  names: string[],
): Promise<Map<string, Group>> {
  const { concurrencyGroups: groups } = tx.tables;
  const isNamed = and(eq(groups.organizationId, organizationId), inArray(groups.name, names));
  const find = async () =>
    new Map((await tx.lock(groups, isNamed, "shared")).map((group) => [group.name, group]));
  const known = await find();
  // In one order: two transactions that make the same groups would wait for each other.
  const missing = names.filter((name) => !known.has(name)).sort();
  if (missing.length === 0) return known;
  const ids = newIds(tx.now, missing.length);
  const rows = missing.map((name, index) => ({
    id: ids[index] as string,
    organizationId,
    name,
    createdAt: tx.now,
  }));
  await tx.insert(groups).values(rows).onConflictDoNothing();
  return find();
}

export async function insertEntries(tx: Tx, entries: GroupEntry[]): Promise<void> {
  await tx.insertMany(tx.tables.concurrencyMembers, entries);
}

/** Jobs of a build that belong to a group, wait or may start, and have no entry yet: uploaded, unblocked or retried ones. */
export async function listJobsWithoutEntry(tx: Tx, buildId: string): Promise<Job[]> {
  const { jobs, concurrencyMembers: entries } = tx.tables;
  const { columns } = firstOfStep(tx);
  const groupOf = (options: SQL | typeof jobs.ownOptions | typeof columns.ownOptions) =>
    sql`cast(${options} -> 'concurrency_group' as text)`;
  const entry = tx.select({ jobId: entries.jobId }).from(entries).where(eq(entries.jobId, jobs.id));
  const found = await selectJobs(tx).where(
    and(
      eq(jobs.buildId, buildId),
      inArray(jobs.state, ["waiting", "scheduled"]),
      sql`coalesce(${groupOf(jobs.ownOptions)}, ${groupOf(columns.ownOptions)}) is not null`,
      notExists(entry),
    ),
  );
  return found.map(wholeJob);
}

/** scheduled → limited, of jobs that do not hold their group. */
export const limitIfScheduled = prepared<{ buildId: string; now: Date }, JobFacts, Tx>((tx) => {
  const { jobs, concurrencyMembers: entries } = tx.tables;
  const waiting = tx
    .select({ jobId: entries.jobId })
    .from(entries)
    .where(and(eq(entries.buildId, sql.placeholder("buildId")), ne(entries.standing, "holding")));
  return tx
    .update(jobs)
    .set({
      state: "limited",
      limitedAt: valueFor(jobs.limitedAt, "now"),
      scheduledAt: null,
      dispatchPausedAt: null,
    })
    .where(
      and(
        eq(jobs.buildId, sql.placeholder("buildId")),
        eq(jobs.state, "scheduled"),
        inArray(jobs.id, waiting),
      ),
    )
    .returning(factColumns(tx));
});

type OfGroup = Pick<GroupEntry, "groupId">;

/** waiting → limited, of entries whose jobs are. */
export const markLimitedEntries = prepared<{ buildId: string }, OfGroup, Tx>((tx) => {
  const { jobs, concurrencyMembers: entries } = tx.tables;
  const limited = tx
    .select({ id: jobs.id })
    .from(jobs)
    .where(and(eq(jobs.buildId, sql.placeholder("buildId")), eq(jobs.state, "limited")));
  return tx
    .update(entries)
    .set({ standing: "limited" })
    .where(
      and(
        eq(entries.buildId, sql.placeholder("buildId")),
        eq(entries.standing, "waiting"),
        inArray(entries.jobId, limited),
      ),
    )
    .returning({ groupId: entries.groupId });
});

/** Deletes entries whose jobs have ended, or are behind a manual step. */
export const deleteEntriesThatLeft = prepared<{ buildId: string }, OfGroup, Tx>((tx) => {
  const { jobs, concurrencyMembers: entries } = tx.tables;
  const left = tx
    .select({ id: jobs.id })
    .from(jobs)
    .where(
      and(
        eq(jobs.buildId, sql.placeholder("buildId")),
        inArray(jobs.state, [...finishedJobStates, "blocked"]),
      ),
    );
  return tx
    .delete(entries)
    .where(and(eq(entries.buildId, sql.placeholder("buildId")), inArray(entries.jobId, left)))
    .returning({ groupId: entries.groupId });
});

/** Moves the entries of a build as its jobs were moved. */
export async function moveEntries(
  tx: Tx,
  { buildId, position, by }: { buildId: string; position: number; by: number },
): Promise<void> {
  const { concurrencyMembers: entries } = tx.tables;
  await tx
    .update(entries)
    .set({ position: sql`${entries.position} + ${by}` })
    .where(and(eq(entries.buildId, buildId), sql`${entries.position} >= ${position}`));
}

export async function setPriorityOfEntry(tx: Tx, jobId: string, priority: number): Promise<void> {
  const { concurrencyMembers: entries } = tx.tables;
  await tx.update(entries).set({ priority }).where(eq(entries.jobId, jobId));
}

/** The first entry of a build, if it has one. */
export async function findEntryOfBuild(
  tx: Tx,
  buildId: string,
): Promise<Pick<GroupEntry, "orderedAt"> | undefined> {
  const { concurrencyMembers: entries } = tx.tables;
  const [found] = await tx
    .select({ orderedAt: entries.orderedAt })
    .from(entries)
    .where(eq(entries.buildId, buildId))
    .limit(1);
  return found;
}

/** An entry that has not started, with its step. */
export interface WaitingEntryOfBuild extends Pick<GroupEntry, "jobId" | "position" | "limit" | "isEager"> {
  group: string;
  stepId: string;
  label: string | null;
  isLimited: boolean;
}

/** The entries of a build that have not started, in the order of their steps. */
export async function listWaitingEntries(tx: Tx, buildId: string): Promise<WaitingEntryOfBuild[]> {
  const { concurrencyGroups: groups, concurrencyMembers: entries, jobs } = tx.tables;
  const { jobId, position, limit, isEager } = entries;
  const found = await tx
    .select({
      jobId,
      position,
      limit,
      isEager,
      group: groups.name,
      stepId: jobs.stepId,
      label: jobs.ownLabel,
      state: jobs.state,
    })
    .from(entries)
    .innerJoin(jobs, eq(jobs.id, entries.jobId))
    .innerJoin(groups, eq(groups.id, entries.groupId))
    .where(and(eq(entries.buildId, buildId), inArray(jobs.state, ["waiting", "limited"])))
    .orderBy(asc(position), asc(entries.jobId));
  return found.map(({ state, ...entry }) => ({ ...entry, isLimited: state === "limited" }));
}
