// A schedule's row is its task: `next_build_at` says when it is due. The transaction that moves it on makes the build, so
// that each time has one build, whatever workers run, end or start again.
//
// | a time came              | then                                                             |
// |--------------------------|------------------------------------------------------------------|
// | less than an hour ago    | a build of the last such time, unless it has one                 |
// | earlier                  | no build: `failed_message` says so, if no later time has a build |
// | of an archived pipeline  | no build                                                         |
// | that brings an error     | tried again each minute, after the others                        |

import { requireStorage } from "../accounts/storage.ts";
import type { BuildRequest } from "../builds/making/builds.ts";
import { createAllBuilds } from "../builds/making/rebuild.ts";
import type { Tx } from "../db/database.ts";
import { hourMs, minuteMs } from "../durations.ts";
import { lockPipelines, type Pipeline } from "../pipelines/store.ts";
import { openLoopPauses } from "../process/loop-pauses.ts";
import type { Topic } from "../redis/events.ts";
import { Refusal } from "../refusal.ts";
import type { Services } from "../services/services.ts";
import { laterWork } from "../sharing/resources.ts";
import { type DueWork, openLooks, openVisits } from "../tasks/looks.ts";
import { nextBuildAfter } from "./schedules.ts";
import {
  type DueSchedule,
  findNextOwner,
  listBuiltTimes,
  listDue,
  listWaiting,
  lockSchedule,
  lockSchedules,
  type Schedule,
  updateSchedule,
  type WaitingSchedule,
} from "./store.ts";

/** Of an organization, in a look. They share a transaction, which others wait for: a few milliseconds. */
const maxOfLook = 4;
const madeUpWithinMs = hourMs;
/** The clock is corrected by less all the time. */
const toleranceMs = minuteMs;
const schedulesPerRead = 100;

/** @param isClockRight a clock in doubt makes no builds */
export function openDueSchedules(services: Services, isClockRight: () => Promise<boolean>): DueWork {
  const { db, clock, log, events } = services;
  const closing = new AbortController();
  const { signal } = closing;
  const visitOwners = openVisits((after) => findNextOwner(db, after));
  const serve = async (organizationId: string): Promise<boolean> => {
    const due = await listDue(db, { organizationId, now: clock.now() }, maxOfLook);
    if (due.length === 0 || !(await isClockRight())) return false;
    const build = async (these: DueSchedule[]) => {
      const run = () => db.transaction((tx) => buildIfDue(tx, services, organizationId, these));
      events.publish(await laterWork.take(organizationId, run, signal));
    };
    const buildAlone = async (one: DueSchedule) => {
      try {
        await build([one]);
      } catch (error) {
        if (signal.aborted) throw error;
        log.error(
          { err: error, scheduleId: one.id },
          "a scheduled build was not made; it will be tried again",
        );
        await db.transaction((tx) => failIfDue(tx, one));
        events.publish([`pipeline:${one.pipelineId}`]);
      }
    };
    try {
      await build(due);
    } catch {
      // One of them fails, which takes the others' builds back.
      for (const each of due) await buildAlone(each);
    }
    return due.length === maxOfLook;
  };
  /** Before the first look, too, the clock may have been ahead of what it is. */
  let wasClockAhead = true;
  const sweeps = openLooks(services, async () => {
    wasClockAhead = false;
    await bringForward(services, signal).catch((error) => {
      wasClockAhead = true;
      throw error;
    });
    return false;
  });
  let lastLookAt: Date | undefined;
  const look = async () => {
    const now = clock.now();
    if (lastLookAt && now.getTime() < lastLookAt.getTime() - toleranceMs) wasClockAhead = true;
    lastLookAt = now;
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
    // Beside the looks: it reads all schedules, at each start of a worker too, and others fall due meanwhile.
    if (wasClockAhead && (await isClockRight())) sweeps.wake();
    return isMore;
  };
  const looks = openLooks(services, look, [sweeps]);
  return {
    ...looks,
    async close() {
      closing.abort();
      await looks.close();
      await sweeps.close();
    },
  };
}

/**
 * Makes the builds of the schedules that are due still, and moves all on.
 * @throws Refusal if a build of several is refused. A single schedule keeps the reason
 */
async function buildIfDue(
  tx: Tx,
  services: Services,
  organizationId: string,
  given: DueSchedule[],
): Promise<Topic[]> {
  // Before the schedules, as others lock them.
  const pipelines = await lockPipelines(tx, [...new Set(given.map(({ pipelineId }) => pipelineId))]);
  const present = new Map(pipelines.map((pipeline) => [pipeline.id, pipeline]));
  const ids = given.map(({ id }) => id);
  const due = (await lockSchedules(tx, ids)).flatMap((schedule) => {
    const { nextBuildAt: firstTime } = schedule;
    if (firstTime === null || firstTime > tx.now) return [];
    return [{ schedule, firstTime, time: lastTime(schedule.cronline, firstTime, tx.now) }];
  });
  const times = due.flatMap(({ firstTime, time }) => (time ? [firstTime, time] : [firstTime]));
  const isBuilt = await listBuiltTimes(tx, ids, times);
  const requests = due.flatMap(({ schedule, time }) => {
    const pipeline = present.get(schedule.pipelineId);
    const isWanted = time && pipeline?.archivedAt === null && !isBuilt(schedule.id, time);
    return isWanted ? [requestOf(schedule, pipeline, time)] : [];
  });
  const made = await tryToBuild(tx, services, organizationId, requests);
  if (made instanceof Refusal && due.length > 1) throw made;
  const refusal = made instanceof Refusal ? made.message : null;
  for (const { schedule, firstTime, time } of due) {
    const pipeline = present.get(schedule.pipelineId);
    const nextBuildAt = pipeline ? nextBuildAfter(schedule.cronline, tx.now) : null;
    const isLeftOut = time === undefined && !isBuilt(schedule.id, firstTime);
    const failedMessage = isLeftOut ? leftOut(firstTime) : refusal;
    const result = { failedAt: failedMessage === null ? null : tx.now, failedMessage };
    await updateSchedule(tx, schedule.id, {
      nextBuildAt,
      ...(pipeline?.archivedAt === null && result),
    });
  }
  const topics = pipelines.map(({ id }): Topic => `pipeline:${id}`);
  return made instanceof Refusal ? topics : [...topics, ...made.changed];
}

/** The last time that has come, if it did within an hour. */
function lastTime(cronline: string, firstTime: Date, now: Date): Date | undefined {
  const since = new Date(now.getTime() - madeUpWithinMs);
  let last = firstTime > since ? firstTime : undefined;
  for (;;) {
    const next = nextBuildAfter(cronline, last ?? since);
    if (next === null || next > now) return last;
    last = next;
  }
}

function leftOut(time: Date): string {
  return `Nothing made a build at ${time.toISOString()}, over an hour ago: it was left out`;
}

const faulty = "An error kept the build from being made. It is tried again each minute, for an hour";

/** Says that no build could be made. The time stays due. */
async function failIfDue(tx: Tx, { id }: DueSchedule): Promise<void> {
  const schedule = await lockSchedule(tx, id);
  if (!schedule?.nextBuildAt || schedule.nextBuildAt > tx.now) return;
  await updateSchedule(tx, id, { failedAt: tx.now, failedMessage: faulty });
}

/**
 * Schedules wait for the times that a clock ahead has found. Once it was set back, they wait for the next ones. A time
 * that has a build gets no other.
 */
async function bringForward(services: Services, signal: AbortSignal): Promise<void> {
  const { db, log } = services;
  const pause = openLoopPauses();
  let count = 0;
  for (let after: string | undefined; !signal.aborted; ) {
    const waiting = await listWaiting(db, after, schedulesPerRead);
    for (const schedule of waiting) {
      await pause();
      try {
        if (await bringOneForward(services, schedule)) count++;
      } catch (error) {
        log.error({ err: error, scheduleId: schedule.id }, "a schedule did not find its next time again");
      }
    }
    after = waiting[schedulesPerRead - 1]?.id;
    if (after === undefined) break;
  }
  if (count > 0) log.warn({ count }, "the clock was set back: schedules wait for earlier times again");
}

/** @returns true if the schedule waited for a time after its next one */
async function bringOneForward({ db, clock }: Services, schedule: WaitingSchedule): Promise<boolean> {
  if (!earlierTime(schedule, clock.now())) return false;
  await db.transaction(async (tx) => {
    const present = await lockSchedule(tx, schedule.id);
    const nextBuildAt = present && earlierTime(present, tx.now);
    if (nextBuildAt) await updateSchedule(tx, schedule.id, { nextBuildAt });
  });
  return true;
}

/** The next time, if the schedule waits for a later one. */
function earlierTime({ cronline, nextBuildAt }: WaitingSchedule, now: Date): Date | undefined {
  if (nextBuildAt === null) return undefined;
  const next = nextBuildAfter(cronline, now);
  return next && next < nextBuildAt ? next : undefined;
}

function requestOf(schedule: Schedule, { defaultBranch }: Pipeline, time: Date): BuildRequest {
  const { id, pipelineId, label, cronline, message, commit, branch } = schedule;
  return {
    pipelineId,
    deliveryId: null,
    creatorId: schedule.createdById,
    source: "schedule",
    message: message ?? `Scheduled: ${label ?? cronline}`,
    commit,
    branch: branch ?? defaultBranch,
    environmentSealed: schedule.environmentSealed,
    scheduledBy: { scheduleId: id, scheduledFor: time },
  };
}

/** Returns the refusal of the builds, which comes before anything is written. Other errors end the transaction. */
async function tryToBuild(
  tx: Tx,
  services: Services,
  organizationId: string,
  requests: BuildRequest[],
): Promise<{ changed: Topic[] } | Refusal> {
  if (requests.length === 0) return { changed: [] };
  try {
    await requireStorage(tx, services.config, organizationId);
    return await createAllBuilds(tx, services, requests);
  } catch (error) {
    if (error instanceof Refusal && error.status === 422) return error;
    throw error;
  }
}
