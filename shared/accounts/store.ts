import { and, asc, desc, eq, gt, inArray, isNull, lt, or, sql } from "drizzle-orm";
import type { Db, Tx } from "../db/database.ts";
import { prepared } from "../db/prepared.ts";
import type { Feature, Role, Tables } from "../db/schema.ts";

export type Organization = Tables["organizations"]["$inferSelect"];
export type User = Tables["users"]["$inferSelect"];
export type AccessToken = Tables["accessTokens"]["$inferSelect"];
export type Session = Tables["sessions"]["$inferSelect"];
export type AuditEvent = Tables["auditEvents"]["$inferSelect"];

export async function findOrganization(db: Db | Tx, slug: string): Promise<Organization | undefined> {
  const { organizations } = db.tables;
  const [found] = await db.select().from(organizations).where(eq(organizations.slug, slug));
  return found;
}

export async function findOrganizationById(db: Db | Tx, id: string): Promise<Organization | undefined> {
  const { organizations } = db.tables;
  const [found] = await db.select().from(organizations).where(eq(organizations.id, id));
  return found;
}

export async function listOrganizations(db: Db): Promise<Organization[]> {
  return db.select().from(db.tables.organizations).orderBy(asc(db.tables.organizations.slug));
}

export async function insertOrganization(tx: Tx, organization: Organization): Promise<void> {
  await tx.insert(tx.tables.organizations).values(organization);
}

export async function setOrganizationLimits(
  tx: Tx,
  id: string,
  change: { deliveriesPerHour: number; features: Feature[] },
): Promise<void> {
  await tx.update(tx.tables.organizations).set(change).where(eq(tx.tables.organizations.id, id));
}

/** The organization's built-in user, maker of what the operator's command makes. */
export async function findOperator(db: Db | Tx, organizationId: string): Promise<User | undefined> {
  const { users } = db.tables;
  const [found] = await db.select().from(users).where(eq(users.operatorOfId, organizationId));
  return found;
}

export async function findUser(db: Db | Tx, email: string): Promise<User | undefined> {
  const { users } = db.tables;
  const [found] = await db.select().from(users).where(eq(users.email, email));
  return found;
}

export async function listUsers(db: Db): Promise<User[]> {
  const { users } = db.tables;
  return db.select().from(users).where(isNull(users.operatorOfId)).orderBy(asc(users.email));
}

/** Users by their ids, deactivated ones too: who made something stays its maker. */
export async function listUsersById(db: Db, ids: string[]): Promise<Map<string, User>> {
  if (ids.length === 0) return new Map();
  const { users } = db.tables;
  const found = await db
    .select()
    .from(users)
    .where(inArray(users.id, [...new Set(ids)]));
  return new Map(found.map((user) => [user.id, user]));
}

export async function insertUser(tx: Tx, user: User): Promise<void> {
  await tx.insert(tx.tables.users).values(user);
}

export async function setPasswordHash(tx: Tx, userId: string, passwordHash: string): Promise<void> {
  await tx.update(tx.tables.users).set({ passwordHash }).where(eq(tx.tables.users.id, userId));
}

/**
 * Whether the user still has the password that was read, held until the transaction ends: a password that is
 * being replaced starts no session, and replaces no other.
 */
export async function lockIfPasswordIs(
  tx: Tx,
  { id, passwordHash }: Pick<User, "id" | "passwordHash">,
): Promise<boolean> {
  const { users } = tx.tables;
  const locked = await tx
    .update(users)
    .set({ passwordHash })
    .where(and(eq(users.id, id), eq(users.passwordHash, passwordHash ?? "")))
    .returning({ id: users.id });
  return locked.length > 0;
}

export async function deactivateIfActive(tx: Tx, userId: string, now: Date): Promise<void> {
  const { users } = tx.tables;
  await tx
    .update(users)
    .set({ deactivatedAt: now })
    .where(and(eq(users.id, userId), isNull(users.deactivatedAt)));
}

export async function findRole(
  db: Db | Tx,
  organizationId: string,
  userId: string,
): Promise<Role | undefined> {
  const { members } = db.tables;
  const [found] = await db
    .select({ role: members.role })
    .from(members)
    .where(and(eq(members.organizationId, organizationId), eq(members.userId, userId)));
  return found?.role;
}

const lockMember = prepared<{ organizationId: string; userId: string }, { role: Role }, Tx>((tx) => {
  const { members } = tx.tables;
  return tx
    .update(members)
    .set({ userId: sql`${sql.placeholder("userId")}` })
    .where(
      and(
        eq(members.organizationId, sql.placeholder("organizationId")),
        eq(members.userId, sql.placeholder("userId")),
      ),
    )
    .returning({ role: members.role });
});

const userById = prepared<{ id: string }, User>((db) => {
  const { users } = db.tables;
  return db
    .select()
    .from(users)
    .where(eq(users.id, sql.placeholder("id")));
});

/**
 * The role of a user who is a member and not deactivated. The row is held until the transaction ends, so that a
 * removal or a change of role comes before or after it, never in between.
 */
export async function lockActiveRole(
  tx: Tx,
  organizationId: string,
  userId: string,
): Promise<Role | undefined> {
  const [member] = await lockMember(tx, { organizationId, userId });
  const [user] = await userById(tx, { id: userId });
  return user && user.deactivatedAt === null ? member?.role : undefined;
}

/** The organizations that a user belongs to, by name, and the role in each. */
export async function listMemberships(db: Db, userId: string) {
  const { members, organizations } = db.tables;
  return db
    .select({ organization: organizations, role: members.role })
    .from(members)
    .innerJoin(organizations, eq(organizations.id, members.organizationId))
    .where(eq(members.userId, userId))
    .orderBy(asc(organizations.name), asc(organizations.id));
}

/** The organization of this slug and the user's role in it; undefined when the user is no member. */
export async function findMembership(db: Db, slug: string, userId: string) {
  const { members, organizations } = db.tables;
  const [found] = await db
    .select({ organization: organizations, role: members.role })
    .from(members)
    .innerJoin(organizations, eq(organizations.id, members.organizationId))
    .where(and(eq(organizations.slug, slug), eq(members.userId, userId)));
  return found;
}

export async function listMembers(db: Db, organizationId: string) {
  const { members, users } = db.tables;
  return db
    .select({ email: users.email, name: users.name, role: members.role, deactivatedAt: users.deactivatedAt })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(eq(members.organizationId, organizationId))
    .orderBy(asc(users.email));
}

export async function insertMember(
  tx: Tx,
  member: { organizationId: string; userId: string; role: Role; createdAt: Date },
): Promise<void> {
  await tx.insert(tx.tables.members).values(member);
}

export async function setRoleIfMember(tx: Tx, organizationId: string, userId: string, role: Role) {
  const { members } = tx.tables;
  const changed = await tx
    .update(members)
    .set({ role })
    .where(and(eq(members.organizationId, organizationId), eq(members.userId, userId)))
    .returning();
  return changed.length > 0;
}

export async function deleteMember(tx: Tx, organizationId: string, userId: string) {
  const { members } = tx.tables;
  const gone = await tx
    .delete(members)
    .where(and(eq(members.organizationId, organizationId), eq(members.userId, userId)))
    .returning();
  return gone.length > 0;
}

export async function findAccessToken(tx: Tx, id: string): Promise<AccessToken | undefined> {
  const { accessTokens } = tx.tables;
  const [found] = await tx.select().from(accessTokens).where(eq(accessTokens.id, id));
  return found;
}

export async function insertAccessToken(tx: Tx, token: AccessToken): Promise<void> {
  await tx.insertMany(tx.tables.accessTokens, [token]);
}

/** What a member's tokens could do ends with the membership; grants go by themselves, by their foreign key. */
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

/**
 * Revokes once: the time of the first revocation stays. Undefined when no such token is in force, or it is not one
 * that `ownerId` made.
 */
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

/** The API access tokens that a user made and that are in force, the newest first; none of applications. */
export async function listOwnAccessTokens(db: Db, userId: string, now: Date) {
  const { accessTokens, organizations } = db.tables;
  return db
    .select({ token: accessTokens, organization: organizations })
    .from(accessTokens)
    .innerJoin(organizations, eq(organizations.id, accessTokens.organizationId))
    .where(
      and(
        eq(accessTokens.userId, userId),
        isNull(accessTokens.grantId),
        isNull(accessTokens.revokedAt),
        or(isNull(accessTokens.expiresAt), gt(accessTokens.expiresAt, now)),
      ),
    )
    .orderBy(desc(accessTokens.id));
}

/** Tokens that expired or were revoked before a time, at most `limit`. Returns how many went. */
export async function deleteEndedAccessTokens(tx: Tx, time: Date, limit: number): Promise<number> {
  const { accessTokens } = tx.tables;
  const ended = tx
    .select({ id: accessTokens.id })
    .from(accessTokens)
    .where(or(lt(accessTokens.expiresAt, time), lt(accessTokens.revokedAt, time)))
    .limit(limit);
  const gone = await tx
    .delete(accessTokens)
    .where(inArray(accessTokens.id, ended))
    .returning({ id: accessTokens.id });
  return gone.length;
}

/** When a token was last used, and by whom a grant was; an older note changes nothing. */
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

export async function insertSession(tx: Tx, session: Session): Promise<void> {
  await tx.insert(tx.tables.sessions).values(session);
}

/** The active user of a session that has not expired. */
export async function findSessionUser(db: Db, tokenHash: string, now: Date): Promise<User | undefined> {
  const { sessions, users } = db.tables;
  const [found] = await db
    .select({ user: users })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(and(eq(sessions.tokenHash, tokenHash), gt(sessions.expiresAt, now), isNull(users.deactivatedAt)));
  return found?.user;
}

export async function deleteSession(tx: Tx, tokenHash: string): Promise<void> {
  await tx.delete(tx.tables.sessions).where(eq(tx.tables.sessions.tokenHash, tokenHash));
}

/** Sessions that expired before a time, at most `limit`. Returns how many went. */
export async function deleteExpiredSessions(tx: Tx, time: Date, limit: number): Promise<number> {
  const { sessions } = tx.tables;
  const old = tx
    .select({ tokenHash: sessions.tokenHash })
    .from(sessions)
    .where(lt(sessions.expiresAt, time))
    .limit(limit);
  const gone = await tx
    .delete(sessions)
    .where(inArray(sessions.tokenHash, old))
    .returning({ userId: sessions.userId });
  return gone.length;
}

export async function deleteSessionsOfUser(tx: Tx, userId: string): Promise<void> {
  await tx.delete(tx.tables.sessions).where(eq(tx.tables.sessions.userId, userId));
}

/**
 * Who an access token speaks for, if it is in force, its user is still active and a member, and the application
 * that it was issued to, if any, is not disabled.
 */
export async function findTokenHolder(db: Db, tokenHash: string, now: Date) {
  const { accessTokens, users, members, organizations, grants, applications } = db.tables;
  const [found] = await db
    .select({
      token: accessTokens,
      user: users,
      organization: organizations,
      role: members.role,
      /** The application that it was issued to; null for a user's own API access token. */
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
        eq(accessTokens.tokenHash, tokenHash),
        isNull(accessTokens.revokedAt),
        or(isNull(accessTokens.expiresAt), gt(accessTokens.expiresAt, now)),
        isNull(users.deactivatedAt),
        isNull(applications.disabledAt),
      ),
    );
  return found;
}

export type TokenHolder = NonNullable<Awaited<ReturnType<typeof findTokenHolder>>>;

export async function insertAuditEvent(tx: Tx, event: AuditEvent): Promise<void> {
  await tx.insertMany(tx.tables.auditEvents, [event]);
}

/** What was done to these things, the newest first. */
export async function listAuditEvents(
  db: Db,
  of: { organizationId: string; subjects?: { types: string[]; ids: string[] } },
  limit: number,
) {
  const { auditEvents, users } = db.tables;
  return db
    .select({ event: auditEvents, actor: users.name })
    .from(auditEvents)
    .innerJoin(users, eq(users.id, auditEvents.actorId))
    .where(
      and(
        eq(auditEvents.organizationId, of.organizationId),
        of.subjects && inArray(auditEvents.subjectType, of.subjects.types),
        of.subjects && inArray(auditEvents.subjectId, of.subjects.ids),
      ),
    )
    .orderBy(desc(auditEvents.id))
    .limit(limit);
}

/** Entries written before a time, at most `limit`. Returns how many went. */
export async function deleteAuditEventsBefore(tx: Tx, time: Date, limit: number): Promise<number> {
  const { auditEvents } = tx.tables;
  const old = tx
    .select({ id: auditEvents.id })
    .from(auditEvents)
    .where(lt(auditEvents.createdAt, time))
    .limit(limit);
  const gone = await tx
    .delete(auditEvents)
    .where(inArray(auditEvents.id, old))
    .returning({ id: auditEvents.id });
  return gone.length;
}

export async function findSetting(db: Db | Tx, name: string): Promise<string | undefined> {
  const { settings } = db.tables;
  const [found] = await db.select().from(settings).where(eq(settings.name, name));
  return found?.value;
}

export async function putSetting(tx: Tx, name: string, value: string): Promise<void> {
  const { settings } = tx.tables;
  await tx
    .insert(settings)
    .values({ name, value })
    .onConflictDoUpdate({ target: settings.name, set: { value } });
}
