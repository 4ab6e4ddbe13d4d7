import { and, asc, desc, eq, gt, gte, inArray, isNotNull, isNull, lt, lte, or, type SQL } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { Db, Tx } from "../db/database.ts";
import { capTotal, countUpTo, type ListedRows, type ListPage, listedRows } from "../db/list-page.ts";
import { ownedRows } from "../db/rows.ts";
import type { Tables } from "../db/schema.ts";
import { minuteMs } from "../durations.ts";
import { idBelowAll } from "../ids.ts";
import { searchOfOwners } from "../tasks/owners-store.ts";

export type Schedule = Tables["schedules"]["$inferSelect"];

export const {
  find: findSchedule,
  count: countSchedules,
  insert: insertSchedule,
  lock: lockSchedule,
  updateIfPresent: updateSchedule,
  deleteIfPresent: deleteScheduleIfPresent,
} = ownedRows<Schedule>(({ schedules }) => schedules, { owner: "pipelineId" });

/** Schedules of a pipeline, newest first. */
export async function listSchedulesPage(
  db: Db,
  pipelineId: string,
  page: ListPage,
): Promise<ListedRows<Schedule>> {
  const { schedules } = db.tables;
  const { limit, offset, after } = page;
  const isOfPipeline = eq(schedules.pipelineId, pipelineId);
  const total = capTotal(await countUpTo(db, schedules, isOfPipeline));
  const rows = await db
    .select()
    .from(schedules)
    .where(and(isOfPipeline, after && lt(schedules.id, after.id)))
    .orderBy(desc(schedules.id))
    .limit(limit + 1)
    .offset(after ? 0 : offset);
  const cursorOf = ({ createdAt, id }: Schedule) => ({ number: createdAt.getTime(), id });
  return listedRows(rows, page, { total, cursorOf });
}

/** Locks schedules. Deleted ones are left out. */
export async function lockSchedules(tx: Tx, ids: string[]): Promise<Schedule[]> {
  const { schedules } = tx.tables;
  return tx.lock(schedules, inArray(schedules.id, ids), "exclusive");
}

/** The next organization whose schedules are due or will be. */
export const findNextOwner = searchOfOwners(
  ({ schedules }) => schedules.organizationId,
  ({ schedules }) => isNotNull(schedules.nextBuildAt),
);

export type DueSchedule = Pick<Schedule, "id" | "pipelineId">;

/** Of a schedule that failed while it was due, and is due still. */
const restMs = minuteMs;

/**
 * Due schedules of an organization, earliest first. Schedules that failed while they were due come after the others, once
 * they have rested: none waits for one that fails each time.
 */
export async function listDue(
  db: Db,
  { organizationId, now }: { organizationId: string; now: Date },
  limit: number,
): Promise<DueSchedule[]> {
  const { schedules } = db.tables;
  const { id, pipelineId, nextBuildAt, failedAt } = schedules;
  const list = (isMeant: SQL | undefined, first: SQLiteColumn, most: number) =>
    db
      .select({ id, pipelineId })
      .from(schedules)
      .where(
        and(
          eq(schedules.organizationId, organizationId),
          isNotNull(nextBuildAt),
          lte(nextBuildAt, now),
          isMeant,
        ),
      )
      .orderBy(asc(first))
      .limit(most);
  const sound = await list(or(isNull(failedAt), lt(failedAt, nextBuildAt)), nextBuildAt, limit);
  if (sound.length === limit) return sound;
  // A clock that was ahead may have stored a later time.
  const hasRested = or(lte(failedAt, new Date(now.getTime() - restMs)), gt(failedAt, now));
  const failed = await list(and(gte(failedAt, nextBuildAt), hasRested), failedAt, limit - sound.length);
  return [...sound, ...failed];
}

export type WaitingSchedule = Pick<Schedule, "id" | "cronline" | "nextBuildAt">;

/** Schedules that wait for a time, after an id. */
export async function listWaiting(
  db: Db,
  after: string | undefined,
  limit: number,
): Promise<WaitingSchedule[]> {
  const { id, cronline, nextBuildAt } = db.tables.schedules;
  return db
    .select({ id, cronline, nextBuildAt })
    .from(db.tables.schedules)
    .where(and(isNotNull(nextBuildAt), gt(id, after ?? idBelowAll)))
    .orderBy(asc(id))
    .limit(limit);
}

/** Tells which times of some schedules have builds. A clock that was set back comes to times twice. */
export async function listBuiltTimes(
  tx: Tx,
  ids: string[],
  times: Date[],
): Promise<(id: string, time: Date) => boolean> {
  const { scheduleId, scheduledFor } = tx.tables.builds;
  const found = await tx
    .select({ scheduleId, scheduledFor })
    .from(tx.tables.builds)
    .where(and(inArray(scheduleId, ids), inArray(scheduledFor, times)));
  return (id, time) =>
    found.some((each) => each.scheduleId === id && each.scheduledFor?.getTime() === time.getTime());
}
