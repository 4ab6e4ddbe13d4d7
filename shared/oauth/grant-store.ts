import { and, asc, desc, eq, gt, inArray, isNull, lt, max, notExists, or } from "drizzle-orm";
import type { Db, Tx } from "../db/database.ts";
import { countUpTo } from "../db/list-page.ts";
import { findBy } from "../db/prepared.ts";
import { deleteRows } from "../db/rows.ts";
import type { Tables } from "../db/schema.ts";
import type { Application } from "./application-store.ts";

export type Grant = Tables["grants"]["$inferSelect"];
export type RefreshToken = Tables["refreshTokens"]["$inferSelect"];

/** The most that one statement deletes. */
const maxDeleted = 200;

export async function insertGrants(tx: Tx, grants: Grant[]): Promise<void> {
  await tx.insertMany(tx.tables.grants, grants);
}

export function countGrants(
  tx: Tx,
  { organizationId, userId }: Pick<Grant, "organizationId" | "userId">,
  limit: number,
): Promise<number> {
  const { grants } = tx.tables;
  const ofMember = and(eq(grants.organizationId, organizationId), eq(grants.userId, userId));
  return countUpTo(tx, grants, ofMember, limit);
}

/** Locks the grant: a refresh and a revocation of it wait for each other. */
export async function lockGrant(tx: Tx, id: string): Promise<Grant | undefined> {
  const { grants } = tx.tables;
  const [locked] = await tx.lock(grants, eq(grants.id, id), "exclusive");
  return locked;
}

/** Undefined also if the user is deactivated. */
export async function findGrantHolder(db: Db, id: string) {
  const { grants, users } = db.tables;
  const [found] = await db
    .select({ grant: grants, user: users })
    .from(grants)
    .innerJoin(users, eq(users.id, grants.userId))
    .where(and(eq(grants.id, id), isNull(users.deactivatedAt)));
  return found;
}

/** Returns true while a token of the grant gives access, or can be exchanged. */
export async function hasActiveTokens(tx: Tx, grantId: string, now: Date): Promise<boolean> {
  const { accessTokens, refreshTokens } = tx.tables;
  const unrevoked = and(eq(accessTokens.grantId, grantId), isNull(accessTokens.revokedAt));
  const access = await tx
    .select({ id: accessTokens.id })
    .from(accessTokens)
    .where(and(unrevoked, or(isNull(accessTokens.expiresAt), gt(accessTokens.expiresAt, now))))
    .limit(1);
  if (access.length > 0) return true;
  const unused = and(eq(refreshTokens.grantId, grantId), isNull(refreshTokens.rotatedAt));
  const refresh = await tx
    .select({ grantId: refreshTokens.grantId })
    .from(refreshTokens)
    .where(and(unused, gt(refreshTokens.expiresAt, now)))
    .limit(1);
  return refresh.length > 0;
}

/** The foreign keys delete the tokens. */
export async function deleteGrant(tx: Tx, id: string): Promise<void> {
  await tx.delete(tx.tables.grants).where(eq(tx.tables.grants.id, id));
}

/** Deletes one grant of a user, or all of an application. */
export async function deleteGrantsOfUser(
  tx: Tx,
  which: { userId: string } & ({ id: string } | { applicationId: string }),
): Promise<Grant[]> {
  const { grants } = tx.tables;
  const isMeant = "id" in which ? eq(grants.id, which.id) : eq(grants.applicationId, which.applicationId);
  return tx
    .delete(grants)
    .where(and(eq(grants.userId, which.userId), isMeant))
    .returning();
}

/** A user's grants, newest first. */
export async function listGrants(db: Db | Tx, userId: string) {
  const { grants, applications, organizations } = db.tables;
  return db
    .select({ grant: grants, application: applications, organization: organizations })
    .from(grants)
    .innerJoin(applications, eq(applications.id, grants.applicationId))
    .innerJoin(organizations, eq(organizations.id, grants.organizationId))
    .where(eq(grants.userId, userId))
    .orderBy(desc(grants.id));
}

export type GrantDetails = Awaited<ReturnType<typeof listGrants>>[number];

/** The last expiry among the unused refresh tokens of each grant. */
export async function listRefreshExpiries(db: Db, userId: string) {
  const { grants, refreshTokens } = db.tables;
  return db
    .select({ grantId: grants.id, expiresAt: max(refreshTokens.expiresAt) })
    .from(grants)
    .innerJoin(refreshTokens, eq(refreshTokens.grantId, grants.id))
    .where(and(eq(grants.userId, userId), isNull(refreshTokens.rotatedAt)))
    .groupBy(grants.id);
}

export async function listGrantTokens(db: Db, userId: string, now: Date) {
  const { accessTokens, grants } = db.tables;
  return db
    .select({ grantId: grants.id, expiresAt: accessTokens.expiresAt })
    .from(accessTokens)
    .innerJoin(grants, eq(grants.id, accessTokens.grantId))
    .where(
      and(
        eq(grants.userId, userId),
        isNull(accessTokens.revokedAt),
        or(isNull(accessTokens.expiresAt), gt(accessTokens.expiresAt, now)),
      ),
    );
}

export async function listOrganizationIdsOfGrants(tx: Tx, applicationId: string): Promise<string[]> {
  const { grants } = tx.tables;
  const found = await tx
    .select({ organizationId: grants.organizationId })
    .from(grants)
    .where(eq(grants.applicationId, applicationId))
    .groupBy(grants.organizationId)
    .orderBy(asc(grants.organizationId));
  return found.map(({ organizationId }) => organizationId);
}

export async function insertRefreshTokens(tx: Tx, tokens: RefreshToken[]): Promise<void> {
  await tx.insertMany(tx.tables.refreshTokens, tokens);
}

export const findRefreshToken = findBy<RefreshToken>(({ refreshTokens }) => refreshTokens.tokenHash);

/** Undefined for another application's token. */
export async function findRefreshTokenOf(
  db: Db,
  { id }: Pick<Application, "id">,
  tokenHash: string,
): Promise<RefreshToken | undefined> {
  const { refreshTokens, grants } = db.tables;
  const [found] = await db
    .select({ token: refreshTokens })
    .from(refreshTokens)
    .innerJoin(grants, eq(grants.id, refreshTokens.grantId))
    .where(and(eq(refreshTokens.tokenHash, tokenHash), eq(grants.applicationId, id)));
  return found?.token;
}

/** Deletes all current refresh tokens of a grant but the newest. Call with the grant locked. */
export async function deleteOldestCurrent(tx: Tx, grantId: string, kept: number): Promise<void> {
  const { refreshTokens } = tx.tables;
  const oldest = tx
    .select({ tokenHash: refreshTokens.tokenHash })
    .from(refreshTokens)
    .where(and(eq(refreshTokens.grantId, grantId), isNull(refreshTokens.rotatedAt)))
    .orderBy(desc(refreshTokens.createdAt))
    .limit(maxDeleted)
    .offset(kept);
  await tx.delete(refreshTokens).where(inArray(refreshTokens.tokenHash, oldest));
}

export async function rotateIfCurrent(tx: Tx, tokenHash: string, now: Date): Promise<void> {
  const { refreshTokens } = tx.tables;
  await tx
    .update(refreshTokens)
    .set({ rotatedAt: now })
    .where(and(eq(refreshTokens.tokenHash, tokenHash), isNull(refreshTokens.rotatedAt)));
}

export function deleteExpiredRefreshTokens(tx: Tx, time: Date, limit: number): Promise<number> {
  const { tokenHash, expiresAt } = tx.tables.refreshTokens;
  return deleteRows(tx, { key: tokenHash, where: lt(expiresAt, time) }, limit);
}

export function deleteEmptyGrants(tx: Tx, limit: number): Promise<number> {
  const { grants, accessTokens, refreshTokens } = tx.tables;
  const isEmpty = and(
    notExists(tx.select().from(accessTokens).where(eq(accessTokens.grantId, grants.id))),
    notExists(tx.select().from(refreshTokens).where(eq(refreshTokens.grantId, grants.id))),
  );
  return deleteRows(tx, { key: grants.id, where: isEmpty }, limit);
}
