import { type Actor, audit } from "../accounts/audit.ts";
import { changesOf } from "../accounts/audit-changes.ts";
import { requireStorage } from "../accounts/storage.ts";
import { sealedPlaces } from "../crypto/sealed-places.ts";
import type { Db } from "../db/database.ts";
import { isId, newId } from "../ids.ts";
import { auditedColumns, changedColumns, newColumns } from "../members/rows.ts";
import { openEnvironmentIfPossible, sealEnvironment } from "../pipelines/environment.ts";
import { lockPipeline, type PipelineFacts } from "../pipelines/store.ts";
import { notFound, validationFailed } from "../refusal.ts";
import type { Services } from "../services/services.ts";
import { stored } from "../sharing/bounds.ts";
import { roomProblems } from "../sharing/room.ts";
import { readCronline } from "./cronline.ts";
import { type NewSchedule, type ScheduleChange, scheduleMembers } from "./members.ts";
import {
  countSchedules,
  deleteScheduleIfPresent,
  findSchedule,
  insertSchedule,
  lockSchedule,
  type Schedule,
  updateSchedule,
} from "./store.ts";
import { nextTime } from "./times.ts";

type Columns = Omit<typeof scheduleMembers, "env">;

/**
 * Creates a schedule of a pipeline.
 * @throws Refusal 404, 422
 */
export async function createSchedule(
  { db, cipher, config, events }: Services,
  actor: Actor,
  pipeline: PipelineFacts,
  { env, ...input }: NewSchedule,
): Promise<Schedule> {
  const { organizationId } = pipeline;
  const created = await db.transaction(async (tx) => {
    if (!(await lockPipeline(tx, pipeline.id))) throw notFound("pipeline");
    await requireStorage(tx, config, organizationId);
    const countUpTo = (limit: number) => countSchedules(tx, pipeline.id, limit);
    const problems = await roomProblems(config, stored.schedules, countUpTo);
    if (problems.length > 0) throw validationFailed(...problems);
    const schedule: Schedule = {
      ...newColumns<Schedule, keyof Columns>(scheduleMembers, input),
      id: newId(tx.now),
      organizationId,
      pipelineId: pipeline.id,
      environmentSealed: sealEnvironment(cipher, env ?? {}, sealedPlaces.variablesOfBuilds),
      nextBuildAt: input.enabled ? nextBuildAfter(input.cronline, tx.now) : null,
      failedAt: null,
      failedMessage: null,
      createdAt: tx.now,
      createdById: actor.userId,
    };
    await insertSchedule(tx, schedule);
    await audit(tx, actor, "created", auditSubject(schedule));
    return schedule;
  });
  events.publish([`pipeline:${pipeline.id}`]);
  return created;
}

/** @throws Refusal 404 */
export async function requireSchedule(db: Db, pipeline: { id: string }, id: string): Promise<Schedule> {
  const found = isId(id) ? await findSchedule(db, pipeline.id, id) : undefined;
  if (!found) throw notFound("schedule");
  return found;
}

/**
 * Changes a schedule. Its next time follows from the new cronline. Enabling it forgets a failure.
 * @throws Refusal 404
 */
export async function changeSchedule(
  services: Services,
  actor: Actor,
  { id, pipelineId }: Schedule,
  { env, ...given }: ScheduleChange,
): Promise<Schedule> {
  const { db, cipher, events } = services;
  const changed = await db.transaction(async (tx) => {
    const before = await lockSchedule(tx, id);
    if (!before) throw notFound("schedule");
    const sealed =
      env === undefined
        ? {}
        : { environmentSealed: sealEnvironment(cipher, env ?? {}, sealedPlaces.variablesOfBuilds) };
    const change = { ...changedColumns<Schedule>(given), ...sealed };
    const after: Schedule = { ...before, ...change };
    const isNew = after.cronline !== before.cronline || after.enabled !== before.enabled;
    const next = after.enabled ? nextBuildAfter(after.cronline, tx.now) : null;
    const isEnabledAgain = after.enabled && !before.enabled;
    const following = {
      ...(isNew && { nextBuildAt: next }),
      ...(isEnabledAgain && { failedAt: null, failedMessage: null }),
    };
    await updateSchedule(tx, id, { ...change, ...following });
    const changes = changesOf({ before, after, ...auditedColumns<Schedule>(scheduleMembers) });
    await audit(tx, actor, "updated", auditSubject(after), [
      ...changes,
      ...(env === undefined ? [] : [{ field: "env" }]),
    ]);
    return { ...after, ...following };
  });
  events.publish([`pipeline:${pipelineId}`]);
  return changed;
}

/** @throws Refusal 404 */
export async function deleteSchedule(
  { db, events }: Services,
  actor: Actor,
  schedule: Schedule,
): Promise<void> {
  await db.transaction(async (tx) => {
    if (!(await deleteScheduleIfPresent(tx, schedule.id))) throw notFound("schedule");
    await audit(tx, actor, "deleted", auditSubject(schedule));
  });
  events.publish([`pipeline:${schedule.pipelineId}`]);
}

/** The variables of its builds. None if no key opens them. */
export function variablesOf({ cipher }: Pick<Services, "cipher">, { environmentSealed }: Schedule) {
  return openEnvironmentIfPossible(cipher, environmentSealed, sealedPlaces.variablesOfBuilds);
}

/** The first time of a stored cronline after another. */
export function nextBuildAfter(cronline: string, after: Date): Date | null {
  const read = readCronline(cronline);
  return "problem" in read ? null : (nextTime(read, after) ?? null);
}

function auditSubject({ id, label, cronline }: Schedule) {
  return { type: "schedule", id, name: label ?? cronline } as const;
}
