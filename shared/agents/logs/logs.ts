import { type Actor, audit } from "../../accounts/audit.ts";
import { auditSubject } from "../../builds/reading/require.ts";
import type { Build } from "../../builds/rows/build-store.ts";
import type { Job } from "../../builds/rows/job-store.ts";
import type { Db } from "../../db/database.ts";
import { isId } from "../../ids.ts";
import type { PipelineFacts } from "../../pipelines/store.ts";
import { notFound, Refusal } from "../../refusal.ts";
import type { Services } from "../../services/services.ts";
import { leasedJobStates, unfinishedJobStates } from "../../vocabulary.ts";
import { deleteLogs } from "./evict.ts";
import type { ReadableLog } from "./read.ts";
import { findJobOfBuild, type JobLog, listLogs } from "./store.ts";

export interface JobWithLogs {
  build: Build;
  job: Job;
  /** By attempt, the first one first. */
  logs: JobLog[];
}

/** @throws Refusal 404 */
export async function requireJobWithLogs(db: Db, build: Build, jobId: string): Promise<JobWithLogs> {
  const job = isId(jobId) ? await findJobOfBuild(db, build.id, jobId) : undefined;
  if (!job || job.type === "waiter") throw notFound("job");
  return { build, job, logs: await listLogs(db, { jobIds: [job.id] }) };
}

/** The log of an attempt, by default of the last. A job without output has an empty one. */
export function logOfAttempt({ job, build, logs }: JobWithLogs, attempt = job.attempt): ReadableLog {
  const log = logs.find((each) => each.attempt === attempt);
  const isOpen = attempt === job.attempt && leasedJobStates.includes(job.state);
  if (log && log.evictedAt === null) return { log, isOpen };
  const none = { size: 0, storedBytes: 0, droppedBytes: 0, isCounted: false };
  const { organizationId } = build;
  const { createdAt } = job;
  const evictedAt = log?.evictedAt ?? null;
  return { log: { jobId: job.id, attempt, organizationId, createdAt, ...none, evictedAt }, isOpen };
}

/**
 * Deletes the logs of all attempts at a job.
 * @throws Refusal 422 while it can still get more
 */
export async function deleteJobLogs(
  services: Services,
  actor: Actor,
  { build, job, logs, pipeline }: JobWithLogs & { pipeline: PipelineFacts },
): Promise<void> {
  if (unfinishedJobStates.includes(job.state))
    throw new Refusal(422, "Log cannot be deleted: the job has not finished");
  if (logs.every(({ evictedAt }) => evictedAt !== null)) return;
  await services.db.transaction((tx) => audit(tx, actor, "deleted a log of", auditSubject(build, pipeline)));
  await deleteLogs(services, job.id);
}
