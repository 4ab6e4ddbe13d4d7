import { and, desc, eq, inArray, lt } from "drizzle-orm";
import type { Db, Tx } from "../db/database.ts";
import type { Tables } from "../db/schema.ts";

export type AuditEvent = Tables["auditEvents"]["$inferSelect"];

export async function insertAuditEvent(tx: Tx, event: AuditEvent): Promise<void> {
  await tx.insertMany(tx.tables.auditEvents, [event]);
}

/**
 * What was done to these things, the newest first.
 * @param of beforeId: entries older than this one
 */
export async function listAuditEvents(
  db: Db,
  of: {
    organizationId: string;
    subjects?: { types: string[]; ids: string[] };
    beforeId?: string | undefined;
  },
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
        of.beforeId ? lt(auditEvents.id, of.beforeId) : undefined,
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
