import { and, asc, eq, inArray, isNull, ne, or, type SQL, sql } from "drizzle-orm";
import type { Db, Tx } from "../db/database.ts";
import {
  capTotal,
  countUpTo,
  type ListedRows,
  type ListPage,
  listedRows,
  readerFor,
} from "../db/list-page.ts";
import { findBy, isOneOf, prepared } from "../db/prepared.ts";
import type { Tables } from "../db/schema.ts";
import type { BuildMails, Role } from "../vocabulary.ts";
import type { Organization } from "./organization-store.ts";
import type { User } from "./user-store.ts";

/** The limit of lists without pages. */
const maxRows = 100_000;

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

/** Undefined: the user is no member. */
export async function findBuildMails(
  db: Db,
  organizationId: string,
  userId: string,
): Promise<BuildMails | undefined> {
  const { members } = db.tables;
  const [found] = await db
    .select({ buildMails: members.buildMails })
    .from(members)
    .where(and(eq(members.organizationId, organizationId), eq(members.userId, userId)));
  return found?.buildMails;
}

export async function setBuildMailsOfMember(
  tx: Tx,
  { organizationId, userId }: MemberId,
  buildMails: BuildMails,
): Promise<void> {
  const { members } = tx.tables;
  await tx
    .update(members)
    .set({ buildMails })
    .where(and(eq(members.organizationId, organizationId), eq(members.userId, userId)));
}

/** A member who gets mail. */
export interface MailedMember {
  userId: string;
  email: string;
  buildMails: BuildMails;
}

/** Active members among these users and addresses who get mail of some builds. */
export async function listMailedMembers(
  db: Db | Tx,
  organizationId: string,
  { userIds, emails }: { userIds: string[]; emails: string[] },
): Promise<MailedMember[]> {
  if (userIds.length === 0 && emails.length === 0) return [];
  const { members, users } = db.tables;
  return db
    .select({ userId: users.id, email: users.email, buildMails: members.buildMails })
    .from(users)
    .innerJoin(members, eq(members.userId, users.id))
    .where(
      and(
        or(inArray(users.id, userIds), inArray(users.email, emails)),
        isNull(users.deactivatedAt),
        isNull(users.operatorOfId),
        eq(members.organizationId, organizationId),
        ne(members.buildMails, "none"),
      ),
    );
}

export type AdminWithMail = Pick<MailedMember, "userId" | "email">;

/** Active admins, those who joined first. @param userId this one alone */
export async function listAdmins(
  db: Db | Tx,
  organizationId: string,
  { userId, limit }: { userId?: string; limit: number },
): Promise<AdminWithMail[]> {
  const { members, users } = db.tables;
  return db
    .select({ userId: users.id, email: users.email })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(
      and(
        isActiveAdmin(db, organizationId),
        userId === undefined ? undefined : eq(members.userId, userId),
        isNull(users.operatorOfId),
      ),
    )
    .orderBy(asc(members.createdAt), asc(members.userId))
    .limit(limit);
}

const findUserById = findBy<User>(({ users }) => users.id);

/** Locks an active membership against a removal or a change of role. */
export async function lockActiveRole(
  tx: Tx,
  organizationId: string,
  userId: string,
): Promise<Role | undefined> {
  const { members } = tx.tables;
  const isMember = and(eq(members.organizationId, organizationId), eq(members.userId, userId));
  const [member] = await tx.lock(members, isMember, "exclusive");
  const user = await findUserById(tx, userId);
  return user && user.deactivatedAt === null ? member?.role : undefined;
}

const activeUsers = prepared<{ ids: string[] }, { id: string }>((db) => {
  const { users } = db.tables;
  return db
    .select({ id: users.id })
    .from(users)
    .where(and(isOneOf(users.id, "ids"), isNull(users.deactivatedAt)));
});

/** Active members of an organization, by their addresses in lower case: user ids. */
export async function listMembersByEmail(
  db: Db | Tx,
  organizationId: string,
  emails: string[],
): Promise<Map<string, string>> {
  if (emails.length === 0) return new Map();
  const rows = await membersByEmail(db, { organizationId, emails });
  return new Map(rows.map(({ email, id }) => [email, id]));
}

const membersByEmail = prepared<{ organizationId: string; emails: string[] }, Pick<User, "id" | "email">>(
  (db) => {
    const { members, users } = db.tables;
    return (
      db
        .select({ id: users.id, email: users.email })
        .from(users)
        // An inner join would let SQLite read all members of the organization first.
        .crossJoin(members)
        .where(
          and(
            isOneOf(users.email, "emails"),
            isNull(users.deactivatedAt),
            eq(members.userId, users.id),
            eq(members.organizationId, sql.placeholder("organizationId")),
          ),
        )
    );
  },
);

type Member = Tables["members"]["$inferSelect"];

interface MemberId {
  organizationId: string;
  userId: string;
}

/** Locks in order. Does not exclude other shared locks. */
export async function lockActiveRoles(tx: Tx, wanted: MemberId[]): Promise<(Role | undefined)[]> {
  const organizationIds = [...new Set(wanted.map(({ organizationId }) => organizationId))];
  const userIds = [...new Set(wanted.map(({ userId }) => userId))];
  const locked = await lockMembers(tx, { organizationIds, userIds });
  const active = await activeUsers(tx, { ids: userIds });

  const activeIds = new Set(active.map(({ id }) => id));
  const roles = new Map(locked.map((member) => [keyOf(member), member.role]));
  return wanted.map((member) => (activeIds.has(member.userId) ? roles.get(keyOf(member)) : undefined));
}

/** Locks users in all of these organizations: one text for any number of them. */
const lockMembers = prepared<{ organizationIds: string[]; userIds: string[] }, Member, Tx>((tx) => {
  const { organizationId, userId } = tx.tables.members;
  const areMeant = and(isOneOf(organizationId, "organizationIds"), isOneOf(userId, "userIds"));
  return tx.lock(tx.tables.members, areMeant, "shared");
});

function keyOf({ organizationId, userId }: MemberId): string {
  return `${organizationId} ${userId}`;
}

/** Lists memberships by name. @param limit any of them: an operator may belong to all organizations */
export async function listMemberships(
  db: Db | Tx,
  userId: string,
  limit = maxRows,
): Promise<{ organization: Organization; role: Role }[]> {
  const { members, organizations } = db.tables;
  const own = db.select().from(members).where(eq(members.userId, userId)).limit(limit).as("own");
  return db
    .select({ organization: organizations, role: own.role })
    .from(own)
    .innerJoin(organizations, eq(organizations.id, own.organizationId))
    .orderBy(asc(organizations.name), asc(organizations.id));
}

export async function findMembership(
  db: Db,
  slug: string,
  userId: string,
): Promise<{ organization: Organization; role: Role } | undefined> {
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

export interface ListedMember {
  id: string;
  email: string;
  name: string;
  role: Role;
  isDeactivated: boolean;
  createdAt: Date;
}

/** In the order in which they joined. */
export async function listMembersPage(
  db: Db,
  organizationId: string,
  page: ListPage,
): Promise<ListedRows<ListedMember>> {
  const { members, users } = db.tables;
  const { limit, offset, after } = page;
  const where = eq(members.organizationId, organizationId);
  const total = capTotal(await countUpTo(db, members, where));
  const start = after && sql.param(new Date(after.number), members.createdAt);
  const rows = await readerFor(db, after ? 0 : offset)
    .select({ member: members, user: users })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(
      and(
        where,
        after &&
          sql`(${members.createdAt}, ${members.userId}) > (${start}, ${sql.param(after.id, members.userId)})`,
      ),
    )
    .orderBy(asc(members.createdAt), asc(members.userId))
    .limit(limit + 1)
    .offset(after ? 0 : offset);
  const listed = rows.map(({ member, user: { id, email, name, deactivatedAt } }): ListedMember => {
    return {
      id,
      email,
      name,
      role: member.role,
      isDeactivated: deactivatedAt !== null,
      createdAt: member.createdAt,
    };
  });
  const cursorOf = ({ createdAt, id }: ListedMember) => ({ number: createdAt.getTime(), id });
  return listedRows(listed, page, { total, cursorOf });
}

export async function findMember(
  db: Db,
  organizationId: string,
  userId: string,
): Promise<{ id: string; email: string; name: string; role: Role } | undefined> {
  const { members, users } = db.tables;
  const [found] = await db
    .select({ id: users.id, email: users.email, name: users.name, role: members.role })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(and(eq(members.organizationId, organizationId), eq(members.userId, userId)));
  return found;
}

/** True if an admin who can sign in is left without this one. */
export async function hasOtherAdmin(tx: Tx, organizationId: string, userId: string): Promise<boolean> {
  const { members, users } = tx.tables;
  const others = await tx
    .select({ id: users.id })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(and(isActiveAdmin(tx, organizationId), ne(members.userId, userId)))
    .limit(1);
  return others.length > 0;
}

/** For a select of members with their users. */
function isActiveAdmin({ tables: { members, users } }: Db | Tx, organizationId: string): SQL | undefined {
  return and(
    eq(members.organizationId, organizationId),
    sql`${members.role} = 'admin'`, // as in the index
    isNull(users.deactivatedAt),
  );
}

export function countMembers(tx: Tx, organizationId: string, limit: number): Promise<number> {
  const { members } = tx.tables;
  return countUpTo(tx, members, eq(members.organizationId, organizationId), limit);
}

/** Only `joinOrganization` keeps the limit. */
export async function insertMember(
  tx: Tx,
  member: { organizationId: string; userId: string; role: Role; createdAt: Date },
): Promise<void> {
  await tx.insert(tx.tables.members).values(member);
}

export async function setRoleIfMember(
  tx: Tx,
  organizationId: string,
  userId: string,
  role: Role,
): Promise<boolean> {
  const { members } = tx.tables;
  const changed = await tx
    .update(members)
    .set({ role })
    .where(and(eq(members.organizationId, organizationId), eq(members.userId, userId)))
    .returning();
  return changed.length > 0;
}

export async function deleteMember(tx: Tx, organizationId: string, userId: string): Promise<boolean> {
  const { members } = tx.tables;
  const deleted = await tx
    .delete(members)
    .where(and(eq(members.organizationId, organizationId), eq(members.userId, userId)))
    .returning();
  return deleted.length > 0;
}
