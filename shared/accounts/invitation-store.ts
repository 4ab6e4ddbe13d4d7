import { and, asc, eq, gt, isNull, lte, type SQL, sql } from "drizzle-orm";
import type { Db, Tx } from "../db/database.ts";
import { countUpTo } from "../db/list-page.ts";
import { deleteRows, findRow } from "../db/rows.ts";
import type { Tables } from "../db/schema.ts";

export type Invitation = Tables["invitations"]["$inferSelect"];

/** An invitation is open while its maker is an admin: a former admin may still have the link. */
function isOpen(db: Db | Tx, now: Date): SQL | undefined {
  const { invitations, members, users } = db.tables;
  const roleOfMaker = db
    .select({ role: members.role })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(
      and(
        eq(members.organizationId, invitations.organizationId),
        eq(members.userId, invitations.createdById),
        isNull(users.deactivatedAt),
      ),
    );
  // Postgres would turn "exists" into a join that reads all members.
  return and(gt(invitations.expiresAt, now), sql`(${roleOfMaker}) = 'admin'`);
}

/** Lists open invitations, oldest first. */
export async function listOpenInvitations(
  db: Db | Tx,
  organizationId: string,
  { now, limit }: { now: Date; limit: number },
): Promise<Invitation[]> {
  const { invitations } = db.tables;
  return db
    .select()
    .from(invitations)
    .where(and(eq(invitations.organizationId, organizationId), isOpen(db, now)))
    .orderBy(asc(invitations.createdAt), asc(invitations.id))
    .limit(limit);
}

export function countOpenInvitations(
  tx: Tx,
  organizationId: string,
  { now, limit }: { now: Date; limit: number },
): Promise<number> {
  const { invitations } = tx.tables;
  const open = and(eq(invitations.organizationId, organizationId), isOpen(tx, now));
  return countUpTo(tx, invitations, open, limit);
}

export function findInvitationById(tx: Tx, id: string): Promise<Invitation | undefined> {
  const { invitations } = tx.tables;
  return findRow(tx, invitations, eq(invitations.id, id));
}

/** Finds the invitation with its organization and its maker's name. */
export async function findOpenInvitation(db: Db, tokenHash: string, now: Date) {
  const { invitations, organizations, users } = db.tables;
  const [found] = await db
    .select({ invitation: invitations, organization: organizations, inviter: users.name })
    .from(invitations)
    .innerJoin(organizations, eq(organizations.id, invitations.organizationId))
    .innerJoin(users, eq(users.id, invitations.createdById))
    .where(and(eq(invitations.tokenHash, tokenHash), isOpen(db, now)));
  return found;
}

export async function insertInvitation(tx: Tx, invitation: Invitation): Promise<void> {
  await tx.insert(tx.tables.invitations).values(invitation);
}

/** open → used. Of any number of simultaneous users of a link, exactly one gets the row. */
export async function takeIfOpen(tx: Tx, tokenHash: string, now: Date): Promise<Invitation | undefined> {
  const { invitations } = tx.tables;
  const [taken] = await tx
    .delete(invitations)
    .where(and(eq(invitations.tokenHash, tokenHash), isOpen(tx, now)))
    .returning();
  return taken;
}

export async function deleteIfPresent(
  tx: Tx,
  organizationId: string,
  id: string,
): Promise<Invitation | undefined> {
  const { invitations } = tx.tables;
  const [deleted] = await tx
    .delete(invitations)
    .where(and(eq(invitations.organizationId, organizationId), eq(invitations.id, id)))
    .returning();
  return deleted;
}

export function deleteExpiredInvitations(tx: Tx, now: Date, limit: number): Promise<number> {
  const { id, expiresAt } = tx.tables.invitations;
  return deleteRows(tx, { key: id, where: lte(expiresAt, now) }, limit);
}
