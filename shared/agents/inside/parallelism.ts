import { moveEntries } from "../../builds/groups/entries-store.ts";
import { newScriptJob } from "../../builds/making/jobs.ts";
import { listJobsOfStep, type StepPlace } from "../../builds/reading/step-store.ts";
import { insertJobs, type Job } from "../../builds/rows/job-store.ts";
import type { Tx } from "../../db/database.ts";
import { newIds } from "../../ids.ts";
import { maxParallelism } from "../../pipelines/step/common.ts";
import { Refusal } from "../../refusal.ts";
import { finishedJobStates, waitingJobStates } from "../../vocabulary.ts";
import { requireRoomForJobs } from "../upload.ts";
import { findPositionAfterStep, moveJobs } from "../upload-store.ts";
import { findOwnLabel, setOwnOptions } from "./step-store.ts";

/**
 * Adds jobs to a step that has not ended. Call it with the build and its cluster locked, and settle the build then.
 * @returns the new jobs
 * @throws Refusal 422
 */
export async function raiseParallelism(tx: Tx, place: StepPlace, value: string): Promise<Job[]> {
  const all = await listJobsOfStep(tx, place);
  const present = all.filter(({ retriedInJobId }) => retriedInJobId === null);
  const [first] = all as [Job, ...Job[]];
  const total = totalOf(value);
  const number = total - present.length;
  const refusal = findRefusal(first, present, number);
  if (refusal) throw new Refusal(422, `parallelism cannot be changed: ${refusal}`);
  if (number === 0) return [];

  const ownLabel = await findOwnLabel(tx, first.id);
  const bytes = Buffer.byteLength(JSON.stringify([ownLabel, first.command, first.options]));
  await requireRoomForJobs(tx, place.buildId, { jobs: number, bytes: bytes * number });
  if (!first.options?.parallel)
    await setOwnOptions(tx, first.id, { ...first.options, parallel: { index: 0, total } });
  const position = await findPositionAfterStep(tx, first);
  const move = { buildId: place.buildId, position, by: number };
  await moveJobs(tx, move);
  await moveEntries(tx, move);
  const added = newIds(tx.now, number).map((id, index) => {
    const parallel = { index: present.length + index, total };
    return {
      ...likeFirst(tx, { id, first, present }),
      label: ownLabel,
      position: position + index,
      parallel,
    };
  });
  const jobs = added.map(({ parallel, ...job }): Job => ({ ...job, options: { ...job.options, parallel } }));
  await insertJobs(tx, jobs);
  return jobs;
}

function totalOf(value: string): number {
  const total = /^\d{1,4}$/.test(value.trim()) ? Number(value) : 0;
  if (total < 1 || total > maxParallelism)
    throw new Refusal(422, `parallelism must be a whole number from 1 to ${maxParallelism}`);
  return total;
}

function findRefusal({ type, options }: Job, present: Job[], added: number): string | undefined {
  if (type !== "script") return "the step has no command";
  if (options?.matrix) return "the step has a matrix";
  if (added < 0) return `the step has ${present.length} jobs already`;
  if (present.every(({ state }) => finishedJobStates.includes(state))) return "the step has ended";
  return undefined;
}

/** A job that waits if another one of its step does, and is scheduled otherwise. */
function likeFirst(tx: Tx, { id, first, present }: { id: string; first: Job; present: Job[] }): Job {
  const { buildId, queueId, stepId, options, command, agentRules } = first;
  const { priority } = present[0] ?? first;
  const waiting = present.find(({ state }) => waitingJobStates.includes(state));
  const isWaiting = waiting !== undefined;
  return {
    ...newScriptJob({ id, buildId, createdAt: tx.now }),
    queueId,
    stepId,
    options,
    command,
    agentRules,
    priority,
    state: waiting?.state ?? "scheduled",
    scheduledAt: isWaiting ? null : tx.now,
    arrivedAt: first.arrivedAt ?? (isWaiting ? null : first.scheduledAt),
  };
}
