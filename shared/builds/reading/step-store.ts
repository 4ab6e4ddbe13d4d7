import { and, asc, eq } from "drizzle-orm";
import type { Db, Tx } from "../../db/database.ts";
import { type Job, selectJobs, wholeJob } from "../rows/job-store.ts";

export interface StepPlace {
  buildId: string;
  stepId: string;
}

/** All jobs of a step in their order, the step's first one first. */
export async function listJobsOfStep(db: Db | Tx, { buildId, stepId }: StepPlace): Promise<Job[]> {
  const { jobs } = db.tables;
  const found = await selectJobs(db)
    .where(and(eq(jobs.buildId, buildId), eq(jobs.stepId, stepId)))
    .orderBy(asc(jobs.id));
  return found.map(wholeJob);
}
