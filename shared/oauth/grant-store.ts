import {
  and,
  asc,
  count,
  desc,
  eq,
  gt,
  inArray,
  isNull,
  lt,
  max,
  notExists,
  or,
  type SQL,
  sql,
} from "drizzle-orm";
import { type CursorPage, selectPage } from "../db/cursor-page.ts";
import type { Db, Tx } from "../db/database.ts";
import { countUpTo } from "../db/list-page.ts";
import { findBy } from "../db/prepared.ts";
import { deleteReturning } from "../db/rows.ts";
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

/** The names of applications by their ids. */
export async function listApplicationNames(tx: Tx, ids: string[]): Promise<Map<string, string>> {
  const { applications } = tx.tables;
  const { id, name } = applications;
  const rows = await tx.select({ id, name }).from(applications).where(inArray(id, ids));
  return new Map(rows.map((row) => [row.id, row.name]));
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

/** A page of a user's grants, newest first. */
export function listGrants(db: Db, userId: string, page: CursorPage) {
  const { grants } = db.tables;
  return selectPage(grants.id, page, ({ condition, order, limit }) =>
    selectGrants(db, and(eq(grants.userId, userId), condition))
      .orderBy(order)
      .limit(limit),
  );
}

/** Undefined for another user's. */
export async function findGrant(db: Db, userId: string, id: string): Promise<GrantDetails | undefined> {
  const { grants } = db.tables;
  const [found] = await selectGrants(db, and(eq(grants.userId, userId), eq(grants.id, id)));
  return found;
}

function selectGrants(db: Db, where: SQL | undefined) {
  const { grants, applications, organizations } = db.tables;
  return db
    .select({ grant: grants, application: applications, organization: organizations })
    .from(grants)
    .innerJoin(applications, eq(applications.id, grants.applicationId))
    .innerJoin(organizations, eq(organizations.id, grants.organizationId))
    .where(where)
    .$dynamic();
}

export type GrantDetails = Awaited<ReturnType<typeof listGrants>>[number];

/** The numbers of a user's grants of applications, by the applications' ids. */
export async function countGrantsByApplication(
  db: Db,
  userId: string,
  applicationIds: string[],
): Promise<Map<string, number>> {
  const { grants } = db.tables;
  const rows = await db
    .select({ id: grants.applicationId, total: count() })
    .from(grants)
    .where(and(eq(grants.userId, userId), inArray(grants.applicationId, applicationIds)))
    .groupBy(grants.applicationId);
  return new Map(rows.map(({ id, total }) => [id, total]));
}

/** The last expiry among the unused refresh tokens of each grant. */
export async function listRefreshExpiries(db: Db, grantIds: string[]) {
  const { refreshTokens } = db.tables;
  return db
    .select({ grantId: refreshTokens.grantId, expiresAt: max(refreshTokens.expiresAt) })
    .from(refreshTokens)
    .where(and(inArray(refreshTokens.grantId, grantIds), isNull(refreshTokens.rotatedAt)))
    .groupBy(refreshTokens.grantId);
}

/** The last expiry among the active access tokens of each grant, and how many of them never expire. */
export async function listAccessExpiries(db: Db, grantIds: string[], now: Date) {
  const { accessTokens } = db.tables;
  return db
    .select({
      grantId: accessTokens.grantId,
      expiresAt: max(accessTokens.expiresAt),
      lasting: sql<number>`count(case when ${accessTokens.expiresAt} is null then 1 end)`.mapWith(Number),
    })
    .from(accessTokens)
    .where(
      and(
        inArray(accessTokens.grantId, grantIds),
        isNull(accessTokens.revokedAt),
        or(isNull(accessTokens.expiresAt), gt(accessTokens.expiresAt, now)),
      ),
    )
    .groupBy(accessTokens.grantId);
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

/** Returns their grants. */
export function deleteExpiredRefreshTokens(tx: Tx, time: Date, limit: number): Promise<string[]> {
  const { tokenHash, grantId, expiresAt } = tx.tables.refreshTokens;
  return deleteReturning(tx, { key: tokenHash, where: lt(expiresAt, time), returned: grantId }, limit);
}

/** Deletes the grants that have no tokens. */
export async function deleteIfEmpty(tx: Tx, grantIds: string[]): Promise<void> {
  if (grantIds.length === 0) return;
  const { grants, accessTokens, refreshTokens } = tx.tables;
  const isEmpty = and(
    inArray(grants.id, grantIds),
    notExists(tx.select().from(accessTokens).where(eq(accessTokens.grantId, grants.id))),
    notExists(tx.select().from(refreshTokens).where(eq(refreshTokens.grantId, grants.id))),
  );
  await tx.delete(grants).where(isEmpty);
}
