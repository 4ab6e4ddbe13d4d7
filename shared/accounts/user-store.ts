import { and, asc, eq, isNull } from "drizzle-orm";
import type { Db, Tx } from "../db/database.ts";
import { findBy, listBy } from "../db/prepared.ts";
import type { Tables } from "../db/schema.ts";

export type User = Tables["users"]["$inferSelect"];

/** The built-in user of the operator's command. */
export const findOperator = findBy<User>(({ users }) => users.operatorOfId);

/** @param email in any case */
export function findUser(db: Db | Tx, email: string): Promise<User | undefined> {
  return findUserByEmail(db, normalizeEmail(email));
}

const findUserByEmail = findBy<User>(({ users }) => users.email);

export function normalizeEmail(email: string): string {
  return email.trim().toLowerCase();
}

/** Without the built-in Operators. */
export async function listUsers(db: Db): Promise<User[]> {
  const { users } = db.tables;
  return db.select().from(users).where(isNull(users.operatorOfId)).orderBy(asc(users.email));
}

/** Includes deactivated users. */
export async function listUsersById(db: Db | Tx, ids: string[]): Promise<Map<string, User>> {
  const found = await usersById(db, [...new Set(ids)]);
  return new Map(found.map((user) => [user.id, user]));
}

const usersById = listBy<User>(({ users }) => users.id);

export async function insertUser(tx: Tx, user: User): Promise<void> {
  await tx.insert(tx.tables.users).values(user);
}

export async function setPasswordHash(tx: Tx, userId: string, passwordHash: string): Promise<void> {
  await tx.update(tx.tables.users).set({ passwordHash }).where(eq(tx.tables.users.id, userId));
}

export async function setShortcuts(tx: Tx, userId: string, hasShortcuts: boolean): Promise<void> {
  await tx.update(tx.tables.users).set({ hasShortcuts }).where(eq(tx.tables.users.id, userId));
}

/** An old password must not start a session. */
export async function lockIfPasswordIs(
  tx: Tx,
  { id, passwordHash }: Pick<User, "id" | "passwordHash">,
): Promise<boolean> {
  const { users } = tx.tables;
  const isSame = and(eq(users.id, id), eq(users.passwordHash, passwordHash ?? ""));
  return (await tx.lock(users, isSame, "exclusive")).length > 0;
}

export async function deactivateIfActive(tx: Tx, userId: string, now: Date): Promise<boolean> {
  const { users } = tx.tables;
  const deactivated = await tx
    .update(users)
    .set({ deactivatedAt: now })
    .where(and(eq(users.id, userId), isNull(users.deactivatedAt)))
    .returning({ id: users.id });
  return deactivated.length > 0;
}
