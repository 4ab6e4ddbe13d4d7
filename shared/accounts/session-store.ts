import { and, desc, eq, gt, inArray, isNull, lt, sql } from "drizzle-orm";
import type { Db, Tx } from "../db/database.ts";
import { prepared } from "../db/prepared.ts";
import { deleteRows } from "../db/rows.ts";
import type { Tables } from "../db/schema.ts";
import type { User } from "./user-store.ts";

export type Session = Tables["sessions"]["$inferSelect"];

/** The most that one statement deletes. */
const maxDeleted = 200;

export async function insertSession(tx: Tx, session: Session): Promise<void> {
  await tx.insert(tx.tables.sessions).values(session);
}

const selectSessionUser = prepared((db: Db) => {
  const { sessions, users } = db.tables;
  const isCurrent = gt(sessions.expiresAt, sql.param(sql.placeholder("now"), sessions.expiresAt));
  return db
    .select({ user: users })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(and(eq(sessions.tokenHash, sql.placeholder("tokenHash")), isCurrent, isNull(users.deactivatedAt)));
});

/** Finds active users only. */
export async function findSessionUser(db: Db, tokenHash: string, now: Date): Promise<User | undefined> {
  const [found] = await selectSessionUser(db, { tokenHash, now });
  return found?.user;
}

/** @returns the id of its user; undefined if there is no such session */
export async function deleteSession(tx: Tx, tokenHash: string): Promise<string | undefined> {
  const { sessions } = tx.tables;
  const [deleted] = await tx
    .delete(sessions)
    .where(eq(sessions.tokenHash, tokenHash))
    .returning({ userId: sessions.userId });
  return deleted?.userId;
}

export function deleteExpiredSessions(tx: Tx, time: Date, limit: number): Promise<number> {
  const { tokenHash, expiresAt } = tx.tables.sessions;
  return deleteRows(tx, { key: tokenHash, where: lt(expiresAt, time) }, limit);
}

/**
 * Deletes sessions of a user but the newest. Call with the user locked.
 * @returns true if there were more
 */
export async function deleteOldestSessions(tx: Tx, userId: string, kept: number): Promise<boolean> {
  const { sessions } = tx.tables;
  const oldest = tx
    .select({ tokenHash: sessions.tokenHash })
    .from(sessions)
    .where(eq(sessions.userId, userId))
    .orderBy(desc(sessions.createdAt))
    .limit(maxDeleted)
    .offset(kept);
  const deleted = await tx
    .delete(sessions)
    .where(inArray(sessions.tokenHash, oldest))
    .returning({ userId: sessions.userId });
  return deleted.length > 0;
}

export async function deleteSessionsOfUser(tx: Tx, userId: string): Promise<void> {
  await tx.delete(tx.tables.sessions).where(eq(tx.tables.sessions.userId, userId));
}
