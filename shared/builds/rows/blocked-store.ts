import { and, asc, eq, inArray, sql } from "drizzle-orm";
import type { Db, Reader, Tx } from "../../db/database.ts";
import { isOneOf, prepared } from "../../db/prepared.ts";
import type { ManualOptions } from "../../vocabulary.ts";
import { isWaitingOf, type StepsOfBuild } from "./graph-store.ts";
import type { Job } from "./job-store.ts";
import { selectJobs, wholeJob } from "./job-store.ts";

// States of manual jobs, and of the jobs behind them.

/** waiting → blocked, of some steps. */
export const blockIfWaiting = prepared<StepsOfBuild, { id: string }, Tx>((tx) => {
  const { jobs } = tx.tables;
  return tx.update(jobs).set({ state: "blocked" }).where(isWaitingOf(tx)).returning({ id: jobs.id });
});

/** blocked → waiting, of some steps. */
export const waitIfBlocked = prepared<StepsOfBuild, { id: string }, Tx>((tx) => {
  const { jobs } = tx.tables;
  return tx.update(jobs).set({ state: "waiting" }).where(isWaitingOf(tx)).returning({ id: jobs.id });
});

/** Says of blocked manual jobs whether somebody can unblock them. */
export async function setUnblockable(
  tx: Tx,
  { buildId, stepIds, unblockable }: StepsOfBuild & { unblockable: boolean },
): Promise<void> {
  const { jobs } = tx.tables;
  await tx
    .update(jobs)
    .set({ unblockable })
    .where(and(eq(jobs.buildId, buildId), eq(jobs.state, "blocked"), inArray(jobs.stepId, stepIds)));
}

/** unblocked → unblocked_failed. */
export const failUnblocked = prepared<{ buildId: string }, { id: string }, Tx>((tx) => {
  const { jobs } = tx.tables;
  return tx
    .update(jobs)
    .set({ state: "unblocked_failed" })
    .where(and(eq(jobs.buildId, sql.placeholder("buildId")), eq(jobs.state, "unblocked")))
    .returning({ id: jobs.id });
});

/** The `blocked_state` of each manual step that somebody can unblock. */
export async function listBlockedStates(tx: Tx, buildId: string): Promise<ManualOptions["blocked_state"][]> {
  const { jobs } = tx.tables;
  const found = await tx
    .select({ options: jobs.ownOptions })
    .from(jobs)
    .where(and(eq(jobs.buildId, buildId), eq(jobs.state, "blocked"), eq(jobs.unblockable, true)));
  return found.map(({ options }) => options?.manual?.blocked_state);
}

/** blocked → unblocked, of a job that can be. Of simultaneous people, exactly one gets the row. */
export async function unblockIfUnblockable(
  tx: Tx,
  { id, userId }: { id: string; userId: string },
): Promise<{ id: string } | undefined> {
  const { jobs } = tx.tables;
  const [unblocked] = await tx
    .update(jobs)
    .set({
      state: "unblocked",
      unblockable: false,
      unblockedAt: tx.now,
      unblockedById: userId,
      finishedAt: tx.now,
    })
    .where(and(eq(jobs.id, id), eq(jobs.state, "blocked"), eq(jobs.unblockable, true)))
    .returning({ id: jobs.id });
  return unblocked;
}

/** The manual jobs of a build that somebody can unblock now, in the order of its steps, with their fields. */
export async function listUnblockable(db: Reader | Tx, buildId: string, limit: number): Promise<Job[]> {
  const { jobs } = db.tables;
  const found = await selectJobs(db)
    .where(and(eq(jobs.buildId, buildId), eq(jobs.state, "blocked"), eq(jobs.unblockable, true)))
    .orderBy(asc(jobs.position), asc(jobs.id))
    .limit(limit);
  return found.map(wholeJob);
}

/** The manual steps of builds that somebody can unblock now. */
export async function listWaitingSteps(db: Db, buildIds: string[], limit: number): Promise<WaitingStep[]> {
  return buildIds.length === 0 ? [] : waitingSteps(db, { buildIds, limit });
}

type WaitingStep = Awaited<ReturnType<typeof selectWaitingSteps>>[number];

const waitingSteps = prepared<{ buildIds: string[]; limit: number }, WaitingStep, Db>(selectWaitingSteps);

function selectWaitingSteps(db: Db) {
  const { buildId, ownLabel, ownOptions, state, unblockable, position } = db.tables.jobs;
  // `isForAdmins` without the options, which may be long.
  const isForAdmins = sql`${ownOptions} -> 'manual' -> 'allowed_teams' is not null`.mapWith(Boolean);
  return db
    .select({ buildId, label: ownLabel, isForAdmins })
    .from(db.tables.jobs)
    .where(and(isOneOf(buildId, "buildIds"), eq(state, "blocked"), eq(unblockable, true)))
    .orderBy(asc(buildId), asc(position))
    .limit(sql.placeholder("limit"));
}

/** The steps of a build that somebody unblocked, and who did. */
export async function listUnblocked(db: Db, buildId: string) {
  const { jobs } = db.tables;
  const { stepId, unblockedAt, unblockedById } = jobs;
  return db
    .select({ stepId, unblockedAt, unblockedById })
    .from(jobs)
    .where(and(eq(jobs.buildId, buildId), inArray(jobs.state, ["unblocked", "unblocked_failed"])));
}
