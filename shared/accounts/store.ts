import { and, asc, eq, inArray, isNull, sql } from "drizzle-orm";
import type { Db, Tx } from "../db/database.ts";
import { prepared } from "../db/prepared.ts";
import type { Tables } from "../db/schema.ts";
import type { Feature, Role } from "../vocabulary.ts";

export type Organization = Tables["organizations"]["$inferSelect"];
export type User = Tables["users"]["$inferSelect"];

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
