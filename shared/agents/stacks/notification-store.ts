import { and, asc, count, eq, inArray } from "drizzle-orm";
import type { Db, Tx } from "../../db/database.ts";
import { isOneOf, prepared } from "../../db/prepared.ts";
import { deleteRows } from "../../db/rows.ts";
import type { Tables } from "../../db/schema.ts";

export type StackNotification = Tables["stackNotifications"]["$inferSelect"];

/** Of a job, by their times. */
export async function listNotifications(db: Db, jobId: string): Promise<StackNotification[]> {
  const { stackNotifications: table } = db.tables;
  return db.select().from(table).where(eq(table.jobId, jobId)).orderBy(asc(table.notifiedAt), asc(table.id));
}

/** Counts the notifications of each of these jobs. Jobs without any are left out. */
export const countNotifications = prepared<{ jobIds: string[] }, { jobId: string; total: number }, Tx>(
  (tx) => {
    const { stackNotifications: table } = tx.tables;
    return tx
      .select({ jobId: table.jobId, total: count() })
      .from(table)
      .where(isOneOf(table.jobId, "jobIds"))
      .groupBy(table.jobId);
  },
);

export function insertNotifications(tx: Tx, rows: StackNotification[]): Promise<void> {
  return tx.insertMany(tx.tables.stackNotifications, rows);
}

/** Deletes up to `limit` notifications of builds. Returns their number. */
export function deleteNotificationsOf(tx: Tx, buildIds: string[], limit: number): Promise<number> {
  const { stackNotifications: table, jobs } = tx.tables;
  const ofBuilds = tx.select({ id: jobs.id }).from(jobs).where(inArray(jobs.buildId, buildIds));
  return deleteRows(tx, { key: table.id, where: and(inArray(table.jobId, ofBuilds)) }, limit);
}
