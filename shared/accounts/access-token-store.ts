import { and, asc, eq, gt, isNull, lt, or, type SQL, sql } from "drizzle-orm";
import { type CursorPage, selectPage } from "../db/cursor-page.ts";
import type { Db, Tx } from "../db/database.ts";
import { countUpTo } from "../db/list-page.ts";
import { prepared } from "../db/prepared.ts";
import { deleteReturning, findRow } from "../db/rows.ts";
import type { Tables } from "../db/schema.ts";

export type AccessToken = Tables["accessTokens"]["$inferSelect"];

export function findAccessToken(tx: Tx, id: string): Promise<AccessToken | undefined> {
  const { accessTokens } = tx.tables;
  return findRow(tx, accessTokens, eq(accessTokens.id, id));
}

export async function insertAccessTokens(tx: Tx, tokens: AccessToken[]): Promise<void> {
  await tx.insertMany(tx.tables.accessTokens, tokens);
}

/** A foreign key deletes the grants. */
export async function revokeTokensOfMember(
  tx: Tx,
  organizationId: string,
  userId: string,
  now: Date,
): Promise<void> {
  const { accessTokens } = tx.tables;
  await tx
    .update(accessTokens)
    .set({ revokedAt: now })
    .where(
      and(
        eq(accessTokens.organizationId, organizationId),
        eq(accessTokens.userId, userId),
        isNull(accessTokens.revokedAt),
      ),
    );
}

/** @param ownerId revoke only if this user made the token */
export async function revokeAccessTokenIfActive(
  tx: Tx,
  id: string,
  now: Date,
  ownerId?: string,
): Promise<AccessToken | undefined> {
  const { accessTokens } = tx.tables;
  const isOwn = ownerId ? and(eq(accessTokens.userId, ownerId), isNull(accessTokens.grantId)) : undefined;
  const [revoked] = await tx
    .update(accessTokens)
    .set({ revokedAt: now })
    .where(and(eq(accessTokens.id, id), isNull(accessTokens.revokedAt), isOwn))
    .returning();
  return revoked;
}

export async function listAccessTokens(db: Db, organizationId: string) {
  const { accessTokens, users } = db.tables;
  return db
    .select({ token: accessTokens, email: users.email })
    .from(accessTokens)
    .innerJoin(users, eq(users.id, accessTokens.userId))
    .where(eq(accessTokens.organizationId, organizationId))
    .orderBy(asc(accessTokens.id));
}

/** Counts the active tokens that a member made. */
export function countOwnAccessTokens(
  tx: Tx,
  { organizationId, userId }: { organizationId: string; userId: string },
  limit: number,
): Promise<number> {
  const { accessTokens } = tx.tables;
  const isCounted = and(eq(accessTokens.organizationId, organizationId), isActiveOwn(tx, userId, tx.now));
  return countUpTo(tx, accessTokens, isCounted, limit);
}

function isActiveOwn({ tables: { accessTokens } }: Db | Tx, userId: string, now: Date): SQL | undefined {
  return and(
    eq(accessTokens.userId, userId),
    isNull(accessTokens.grantId),
    isNull(accessTokens.revokedAt),
    or(isNull(accessTokens.expiresAt), gt(accessTokens.expiresAt, now)),
  );
}

/** The active tokens that a user made: a page of them, newest first. */
export function listOwnAccessTokens(
  db: Db,
  { userId, now }: { userId: string; now: Date },
  page: CursorPage,
) {
  return selectPage(db.tables.accessTokens.id, page, ({ condition, order, limit }) =>
    selectOwn(db, and(isActiveOwn(db, userId, now), condition))
      .orderBy(order)
      .limit(limit),
  );
}

export async function findOwnAccessToken(db: Db, { userId, now }: { userId: string; now: Date }, id: string) {
  const [found] = await selectOwn(db, and(isActiveOwn(db, userId, now), eq(db.tables.accessTokens.id, id)));
  return found;
}

export type OwnAccessToken = NonNullable<Awaited<ReturnType<typeof findOwnAccessToken>>>;

function selectOwn(db: Db, where: SQL | undefined) {
  const { accessTokens, organizations } = db.tables;
  return db
    .select({ token: accessTokens, organization: organizations })
    .from(accessTokens)
    .innerJoin(organizations, eq(organizations.id, accessTokens.organizationId))
    .where(where)
    .$dynamic();
}

/** Returns the grant of each, null for a user's own. */
export function deleteEndedAccessTokens(tx: Tx, time: Date, limit: number): Promise<(string | null)[]> {
  const { id, grantId, expiresAt, revokedAt } = tx.tables.accessTokens;
  const where = or(lt(expiresAt, time), lt(revokedAt, time));
  return deleteReturning(tx, { key: id, where, returned: grantId }, limit);
}

/** Also updates the token's grant. */
export async function recordUseIfLater(
  tx: Tx,
  tokenId: string,
  use: { at: Date; ip: string; userAgent: string | null },
): Promise<void> {
  const { accessTokens, grants } = tx.tables;
  const [token] = await tx
    .update(accessTokens)
    .set({ lastUsedAt: use.at })
    .where(
      and(
        eq(accessTokens.id, tokenId),
        or(isNull(accessTokens.lastUsedAt), lt(accessTokens.lastUsedAt, use.at)),
      ),
    )
    .returning();
  if (!token?.grantId) return;
  await tx
    .update(grants)
    .set({ lastUsedAt: use.at, lastIp: use.ip, lastUserAgent: use.userAgent })
    .where(and(eq(grants.id, token.grantId), or(isNull(grants.lastUsedAt), lt(grants.lastUsedAt, use.at))));
}

const selectTokenHolder = prepared((db: Db) => {
  const { accessTokens, users, members, organizations, grants, applications } = db.tables;
  const now = sql.param(sql.placeholder("now"), accessTokens.expiresAt);
  return db
    .select({
      token: accessTokens,
      user: users,
      organization: organizations,
      role: members.role,
      applicationId: grants.applicationId,
    })
    .from(accessTokens)
    .innerJoin(users, eq(users.id, accessTokens.userId))
    .innerJoin(organizations, eq(organizations.id, accessTokens.organizationId))
    .innerJoin(
      members,
      and(eq(members.organizationId, accessTokens.organizationId), eq(members.userId, accessTokens.userId)),
    )
    .leftJoin(grants, eq(grants.id, accessTokens.grantId))
    .leftJoin(applications, eq(applications.id, grants.applicationId))
    .where(
      and(
        eq(accessTokens.tokenHash, sql.placeholder("tokenHash")),
        isNull(accessTokens.revokedAt),
        or(isNull(accessTokens.expiresAt), gt(accessTokens.expiresAt, now)),
        isNull(users.deactivatedAt),
        isNull(applications.disabledAt),
      ),
    );
});

/** Undefined also for a deactivated user, a former member or a disabled application. */
export async function findTokenHolder(db: Db, tokenHash: string, now: Date) {
  const [found] = await selectTokenHolder(db, { tokenHash, now });
  return found;
}

export type TokenHolder = NonNullable<Awaited<ReturnType<typeof findTokenHolder>>>;
