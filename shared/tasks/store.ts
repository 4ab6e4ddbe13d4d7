import { and, asc, eq, gt, inArray, lte, or, sql } from "drizzle-orm";
import type { Db, Tx } from "../db/database.ts";
import type { Tables } from "../db/schema.ts";
import { publishAfterCommit } from "../db/transaction-guard.ts";
import { minuteMs, secondMs } from "../durations.ts";
import { newIds } from "../ids.ts";
import type { TaskKind } from "../vocabulary.ts";
import { searchOfOwners } from "./owners-store.ts";

export type Task = Tables["tasks"]["$inferSelect"];

/** Kinds that take long, so that workers alone do them. The process that makes one of the others due does it itself. */
const kindsOfWorkers: TaskKind[] = ["stack", "pause", "bulk_rebuild", "artifact", "providers", "wake"];
/** Workers leave a task that its process does for so long. */
const ownMs = 3 * secondMs;
/** No task waits for so long: a wrong clock made it due so late. */
const maxAheadMs = 10 * minuteMs;
/** The most tasks of a subject that a transaction deletes. Others follow. */
const maxAtOnce = 1000;

export function isOfWorkers(kind: TaskKind): boolean {
  return kindsOfWorkers.includes(kind);
}

/** Makes work about subjects of an organization due. It is done right after the commit, or else soon by a worker. */
export async function later(
  tx: Tx,
  kind: TaskKind,
  organizationId: string,
  subjectIds: string[],
): Promise<void> {
  if (subjectIds.length === 0) return;
  const ids = newIds(tx.now, subjectIds.length);
  const dueAt = isOfWorkers(kind) ? tx.now : new Date(tx.now.getTime() + ownMs);
  const due = subjectIds.map((subjectId) => ({ kind, subjectId, organizationId }));
  const rows = due.map((each, index) => ({ ...each, id: ids[index] as string, dueAt, failures: 0 }));
  await tx.insertMany(tx.tables.tasks, rows);
  publishAfterCommit(due);
}

/**
 * The tasks of a subject, oldest first. Read them before what decides, and end those that were read once all is done:
 * each was committed with its cause, which the later reads see.
 */
export async function listTasks(db: Db | Tx, kind: TaskKind, subjectId: string): Promise<string[]> {
  return (await listOwnedTasks(db, kind, subjectId)).map(({ id }) => id).sort();
}

/** Like `listTasks`, in any order, with the organization of the subject. */
export async function listOwnedTasks(
  db: Db | Tx,
  kind: TaskKind,
  subjectId: string,
): Promise<Pick<Task, "id" | "organizationId">[]> {
  const { tasks } = db.tables;
  return db
    .select({ id: tasks.id, organizationId: tasks.organizationId })
    .from(tasks)
    .where(and(eq(tasks.kind, kind), eq(tasks.subjectId, subjectId)))
    .limit(maxAtOnce);
}

export async function endTasks(tx: Tx, ids: string[]): Promise<void> {
  if (ids.length > 0) await tx.delete(tx.tables.tasks).where(inArray(tx.tables.tasks.id, ids));
}

/** Does the last of some tasks of a subject again at a time, and ends the others. */
export async function repeatTask(tx: Tx, ids: string[], dueAt: Date): Promise<void> {
  const { tasks } = tx.tables;
  await endTasks(tx, ids.slice(0, -1));
  await tx
    .update(tasks)
    .set({ dueAt, failures: 0 })
    .where(inArray(tasks.id, ids.slice(-1)));
}

/**
 * Ends the tasks of a subject, for the transaction that does them. Call it with the subject locked, before reading
 * what decides.
 * @returns false if there is none
 */
export async function endTasksOf(tx: Tx, kind: TaskKind, subjectId: string): Promise<boolean> {
  const { tasks } = tx.tables;
  const these = tx
    .select({ id: tasks.id })
    .from(tasks)
    .where(and(eq(tasks.kind, kind), eq(tasks.subjectId, subjectId)))
    .limit(maxAtOnce);
  const taken = await tx.delete(tasks).where(inArray(tasks.id, these)).returning({ id: tasks.id });
  return taken.length > 0;
}

/** Finds the next organization that has tasks, due or not. */
export const findNextOwner = searchOfOwners(({ tasks }) => tasks.organizationId);

/** Tasks of an organization that are due, earliest first, or that a clock which was ahead made due too late. */
export async function listDue(db: Db, organizationId: string, now: Date, limit: number): Promise<Task[]> {
  const { tasks } = db.tables;
  const list = (isDue: ReturnType<typeof lte>) =>
    db
      .select()
      .from(tasks)
      .where(and(eq(tasks.organizationId, organizationId), isDue))
      .orderBy(asc(tasks.dueAt))
      .limit(limit);
  const due = await list(lte(tasks.dueAt, now));
  return due.length > 0 ? due : list(gt(tasks.dueAt, new Date(now.getTime() + maxAheadMs)));
}

/** Of processes that take a task at once, exactly one gets it. Others may take it from `until` on. */
export async function takeIfDue(tx: Tx, ids: string[], now: Date, until: Date): Promise<Task[]> {
  const { tasks } = tx.tables;
  const isDue = or(lte(tasks.dueAt, now), gt(tasks.dueAt, new Date(now.getTime() + maxAheadMs)));
  return tx
    .update(tasks)
    .set({ dueAt: until })
    .where(and(inArray(tasks.id, ids), isDue))
    .returning();
}

/** Sets when the tasks of a subject are due. @param after leaves out those that are due until then */
export async function setDue(
  tx: Tx,
  { kind, subjectId }: Pick<Task, "kind" | "subjectId">,
  { dueAt, after }: { dueAt: Date; after?: Date },
): Promise<void> {
  const { tasks } = tx.tables;
  const isTaken = after && gt(tasks.dueAt, after);
  await tx
    .update(tasks)
    .set({ dueAt })
    .where(and(eq(tasks.kind, kind), eq(tasks.subjectId, subjectId), isTaken));
}

/** Counts a failure of the tasks of a subject. @returns the failures of the one that failed most; 0 if there is none */
export async function countFailure(
  tx: Tx,
  { kind, subjectId }: Pick<Task, "kind" | "subjectId">,
): Promise<number> {
  const { tasks } = tx.tables;
  const failed = await tx
    .update(tasks)
    .set({ failures: sql`${tasks.failures} + 1` })
    .where(and(eq(tasks.kind, kind), eq(tasks.subjectId, subjectId)))
    .returning({ failures: tasks.failures });
  return failed.reduce((most, { failures }) => Math.max(most, failures), 0);
}
