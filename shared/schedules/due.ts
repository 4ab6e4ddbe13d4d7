// A schedule's row is its task: `next_build_at` says when it is due. The transaction that moves it on makes the build, so
// that each time has one build, whatever workers run, end or start again.
//
// | a time came              | then                                               |
// |--------------------------|----------------------------------------------------|
// | less than an hour ago    | a build, and one only if several times have passed |
// | earlier                  | no build: `failed_message` says so                 |
// | of an archived pipeline  | no build                                           |

import { requireStorage } from "../accounts/storage.ts";
import { createOneBuild } from "../builds/making/rebuild.ts";
import type { Tx } from "../db/database.ts";
import { hourMs } from "../durations.ts";
import { lockPipeline } from "../pipelines/store.ts";
import type { Topic } from "../redis/events.ts";
import { Refusal } from "../refusal.ts";
import type { Services } from "../services/services.ts";
import { laterWork } from "../sharing/resources.ts";
import { Tasks } from "../sharing/tasks.ts";
import { openLooks, openVisits } from "../tasks/looks.ts";
import { nextBuildAfter } from "./schedules.ts";
import {
  type DueSchedule,
  findNextOwner,
  listDue,
  lockSchedule,
  type Schedule,
  updateSchedule,
} from "./store.ts";

export interface DueSchedules {
  /** Makes the builds that are due. A worker looks each second. */
  wake(): void;
  /** Resolves once nothing runs. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

/** Of an organization, in a look. */
const maxOfLook = 20;
const madeUpWithinMs = hourMs;

/** @param isClockRight a clock in doubt makes no builds */
export function openDueSchedules(services: Services, isClockRight: () => Promise<boolean>): DueSchedules {
  const { db, clock, log, events } = services;
  const tasks = new Tasks();
  const { signal } = tasks;
  const visitOwners = openVisits((after) => findNextOwner(db, after));
  const serve = async (organizationId: string): Promise<boolean> => {
    const due = await listDue(db, { organizationId, now: clock.now() }, maxOfLook);
    if (due.length === 0 || !(await isClockRight())) return false;
    for (const each of due) {
      const build = () => db.transaction((tx) => buildIfDue(tx, services, each));
      events.publish(await laterWork.take(organizationId, build, signal));
    }
    return due.length === maxOfLook;
  };
  const look = async () => {
    let isMore = false;
    await visitOwners(async ({ organizationId }) => {
      try {
        if (await serve(organizationId)) isMore = true;
      } catch (error) {
        if (signal.aborted) return "stop";
        log.warn({ err: error, organizationId }, "scheduled builds were not made; they will be tried again");
      }
      return "go on";
    });
    return isMore;
  };
  const looks = openLooks(services, look);
  return {
    wake: () => looks.wake(),
    idle: () => looks.idle(),
    async close() {
      await Promise.all([tasks.close(), looks.close()]);
    },
  };
}

async function buildIfDue(tx: Tx, services: Services, { id, pipelineId }: DueSchedule): Promise<Topic[]> {
  // Before the schedule, as others lock them.
  const pipeline = await lockPipeline(tx, pipelineId);
  const schedule = await lockSchedule(tx, id);
  const dueAt = schedule?.nextBuildAt;
  if (!schedule || !dueAt || dueAt > tx.now) return [];
  const nextBuildAt = nextBuildAfter(schedule.cronline, tx.now);
  if (!pipeline || pipeline.archivedAt !== null) {
    await updateSchedule(tx, id, { nextBuildAt: pipeline ? nextBuildAt : null });
    return [];
  }
  const made = await tryToBuild(tx, services, { schedule, dueAt, branch: pipeline.defaultBranch });
  const failure = "refused" in made ? { failedAt: tx.now, failedMessage: made.refused } : noFailure;
  await updateSchedule(tx, id, { nextBuildAt, ...failure });
  return "refused" in made ? [`pipeline:${pipelineId}`] : made.changed;
}

const noFailure = { failedAt: null, failedMessage: null };

async function tryToBuild(
  tx: Tx,
  services: Services,
  { schedule, dueAt, branch }: { schedule: Schedule; dueAt: Date; branch: string },
): Promise<{ changed: Topic[] } | { refused: string }> {
  if (tx.now.getTime() - dueAt.getTime() >= madeUpWithinMs)
    return { refused: `Nothing made a build at ${dueAt.toISOString()}, over an hour ago: it was left out` };
  try {
    await requireStorage(tx, services.config, schedule.organizationId);
    return await createOneBuild(tx, services, {
      pipelineId: schedule.pipelineId,
      deliveryId: null,
      creatorId: schedule.createdById,
      source: "schedule",
      message: schedule.message ?? `Scheduled: ${schedule.label ?? schedule.cronline}`,
      commit: schedule.commit,
      branch: schedule.branch ?? branch,
      environmentSealed: schedule.environmentSealed,
      scheduledBy: { scheduleId: schedule.id, scheduledFor: dueAt },
    });
  } catch (error) {
    // It was refused before anything was written. Other errors end the transaction.
    if (error instanceof Refusal && error.status === 422) return { refused: error.message };
    throw error;
  }
}
