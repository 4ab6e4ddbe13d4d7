import { and, desc, eq, inArray, not, sql } from "drizzle-orm";
import type { StepPlace } from "../../builds/reading/step-store.ts";
import {
  factColumns,
  isReferring,
  type Job,
  type JobFacts,
  selectJobs,
  wholeJob,
} from "../../builds/rows/job-store.ts";
import type { Db, Tx } from "../../db/database.ts";
import type { JobOptions } from "../../db/schema/builds.ts";
import { isId } from "../../ids.ts";
import { isStorable } from "../../validation.ts";
import { unfinishedJobStates } from "../../vocabulary.ts";

export async function findJobOfStep(db: Db, id: string): Promise<Job | undefined> {
  const [found] = await selectJobs(db).where(eq(db.tables.jobs.id, id));
  return found && wholeJob(found);
}

/**
 * The id of a step. Of several with a key, the last: steps that an upload replaced have theirs still.
 * @param idOrKey no key looks like an id
 */
export async function findStepId(db: Db | Tx, buildId: string, idOrKey: string): Promise<string | undefined> {
  const { jobs } = db.tables;
  if (!isStorable(idOrKey)) return undefined;
  const isNamed = isId(idOrKey) ? eq(jobs.stepId, idOrKey) : sql`${jobs.ownOptions} ->> 'key' = ${idOrKey}`;
  const [found] = await db
    .select({ id: jobs.stepId })
    .from(jobs)
    .where(and(eq(jobs.buildId, buildId), eq(jobs.id, jobs.stepId), isNamed))
    .orderBy(desc(jobs.id))
    .limit(1);
  return found?.id;
}

/** Sets the label of a step, where its jobs have it. */
export async function setLabelOfStep(tx: Tx, place: StepPlace, label: string | null): Promise<void> {
  const { jobs } = tx.tables;
  await tx
    .update(jobs)
    .set({ ownLabel: label })
    .where(and(isOfStep(tx, place), not(isReferring(tx))));
}

/** Sets the priority of a step's unfinished jobs, in their concurrency group too. */
export async function setPriorityOfStep(tx: Tx, place: StepPlace, priority: number): Promise<JobFacts[]> {
  const { jobs, concurrencyMembers } = tx.tables;
  const changed = await tx
    .update(jobs)
    .set({ priority })
    .where(and(isOfStep(tx, place), inArray(jobs.state, unfinishedJobStates)))
    .returning(factColumns(tx));
  const ids = tx.select({ id: jobs.id }).from(jobs).where(isOfStep(tx, place));
  await tx
    .update(concurrencyMembers)
    .set({ priority })
    .where(and(eq(concurrencyMembers.buildId, place.buildId), inArray(concurrencyMembers.jobId, ids)));
  return changed;
}

/** Replaces the options of a job that refers to no other. */
export async function setOwnOptions(tx: Tx, id: string, ownOptions: JobOptions): Promise<void> {
  const { jobs } = tx.tables;
  await tx.update(jobs).set({ ownOptions }).where(eq(jobs.id, id));
}

/** The label of a step's first job as it is stored, with the names of places. */
export async function findOwnLabel(tx: Tx, id: string): Promise<string | null> {
  const { jobs } = tx.tables;
  const [found] = await tx.select({ label: jobs.ownLabel }).from(jobs).where(eq(jobs.id, id));
  return found?.label ?? null;
}

function isOfStep({ tables: { jobs } }: Tx, { buildId, stepId }: StepPlace) {
  return and(eq(jobs.buildId, buildId), eq(jobs.stepId, stepId));
}
