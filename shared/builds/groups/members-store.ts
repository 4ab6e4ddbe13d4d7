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

export type Member = Tables["concurrencyMembers"]["$inferSelect"];
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

export async function insertMembers(tx: Tx, members: Member[]): Promise<void> {
  await tx.insertMany(tx.tables.concurrencyMembers, members);
}

/** Jobs of a build that belong to a group, wait or may start, and are no members yet: uploaded, unblocked or retried ones. */
export async function listNewMembers(tx: Tx, buildId: string): Promise<Job[]> {
  const { jobs, concurrencyMembers: members } = tx.tables;
  const { columns } = firstOfStep(tx);
  const groupOf = (options: SQL | typeof jobs.ownOptions | typeof columns.ownOptions) =>
    sql`cast(${options} -> 'concurrency_group' as text)`;
  const member = tx.select({ jobId: members.jobId }).from(members).where(eq(members.jobId, jobs.id));
  const found = await selectJobs(tx).where(
    and(
      eq(jobs.buildId, buildId),
      inArray(jobs.state, ["waiting", "scheduled"]),
      sql`coalesce(${groupOf(jobs.ownOptions)}, ${groupOf(columns.ownOptions)}) is not null`,
      notExists(member),
    ),
  );
  return found.map(wholeJob);
}

/** scheduled → limited, of jobs that do not hold their group. */
export const limitIfScheduled = prepared<{ buildId: string; now: Date }, JobFacts, Tx>((tx) => {
  const { jobs, concurrencyMembers: members } = tx.tables;
  const waiting = tx
    .select({ jobId: members.jobId })
    .from(members)
    .where(and(eq(members.buildId, sql.placeholder("buildId")), ne(members.standing, "holding")));
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

type OfGroup = Pick<Member, "groupId">;

/** waiting → limited, of members whose jobs are. */
export const markLimitedMembers = prepared<{ buildId: string }, OfGroup, Tx>((tx) => {
  const { jobs, concurrencyMembers: members } = tx.tables;
  const limited = tx
    .select({ id: jobs.id })
    .from(jobs)
    .where(and(eq(jobs.buildId, sql.placeholder("buildId")), eq(jobs.state, "limited")));
  return tx
    .update(members)
    .set({ standing: "limited" })
    .where(
      and(
        eq(members.buildId, sql.placeholder("buildId")),
        eq(members.standing, "waiting"),
        inArray(members.jobId, limited),
      ),
    )
    .returning({ groupId: members.groupId });
});

/** Deletes members whose jobs have ended, or are behind a manual step. */
export const deleteMembersThatLeft = prepared<{ buildId: string }, OfGroup, Tx>((tx) => {
  const { jobs, concurrencyMembers: members } = tx.tables;
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
    .delete(members)
    .where(and(eq(members.buildId, sql.placeholder("buildId")), inArray(members.jobId, left)))
    .returning({ groupId: members.groupId });
});

/** Moves the members of a build as its jobs were moved. */
export async function moveMembers(
  tx: Tx,
  { buildId, position, by }: { buildId: string; position: number; by: number },
): Promise<void> {
  const { concurrencyMembers: members } = tx.tables;
  await tx
    .update(members)
    .set({ position: sql`${members.position} + ${by}` })
    .where(and(eq(members.buildId, buildId), sql`${members.position} >= ${position}`));
}

export async function setPriorityOfMember(tx: Tx, jobId: string, priority: number): Promise<void> {
  const { concurrencyMembers: members } = tx.tables;
  await tx.update(members).set({ priority }).where(eq(members.jobId, jobId));
}

/** The first member of a build, if it has one. */
export async function findMemberOfBuild(
  tx: Tx,
  buildId: string,
): Promise<Pick<Member, "orderedAt"> | undefined> {
  const { concurrencyMembers: members } = tx.tables;
  const [found] = await tx
    .select({ orderedAt: members.orderedAt })
    .from(members)
    .where(eq(members.buildId, buildId))
    .limit(1);
  return found;
}

/** A member that has not started, with its step. */
export interface WaitingMemberOfBuild extends Pick<Member, "jobId" | "position" | "limit" | "isEager"> {
  group: string;
  stepId: string;
  label: string | null;
  isLimited: boolean;
}

/** The members of a build that have not started, in the order of their steps. */
export async function listWaitingMembers(tx: Tx, buildId: string): Promise<WaitingMemberOfBuild[]> {
  const { concurrencyGroups: groups, concurrencyMembers: members, jobs } = tx.tables;
  const { jobId, position, limit, isEager } = members;
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
    .from(members)
    .innerJoin(jobs, eq(jobs.id, members.jobId))
    .innerJoin(groups, eq(groups.id, members.groupId))
    .where(and(eq(members.buildId, buildId), inArray(jobs.state, ["waiting", "limited"])))
    .orderBy(asc(position), asc(members.jobId));
  return found.map(({ state, ...member }) => ({ ...member, isLimited: state === "limited" }));
}
