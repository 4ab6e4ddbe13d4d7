import { and, desc, eq, inArray, lt } from "drizzle-orm";
import type { Db, Tx } from "../db/database.ts";
import type { Tables } from "../db/schema.ts";

export type AuditEvent = Tables["auditEvents"]["$inferSelect"];

export async function insertAuditEvents(tx: Tx, events: AuditEvent[]): Promise<void> {
  await tx.insertMany(tx.tables.auditEvents, events);
}

/** Newest first. */
export async function listAuditEvents(
  db: Db,
  filter: {
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
        eq(auditEvents.organizationId, filter.organizationId),
        filter.subjects && inArray(auditEvents.subjectType, filter.subjects.types),
        filter.subjects && inArray(auditEvents.subjectId, filter.subjects.ids),
        filter.beforeId ? lt(auditEvents.id, filter.beforeId) : undefined,
      ),
    )
    .orderBy(desc(auditEvents.id))
    .limit(limit);
}

/** @returns the number deleted */
export async function deleteAuditEventsBefore(tx: Tx, time: Date, limit: number): Promise<number> {
  const { auditEvents } = tx.tables;
  const old = tx
    .select({ id: auditEvents.id })
    .from(auditEvents)
    .where(lt(auditEvents.createdAt, time))
    .limit(limit);
  const deleted = await tx
    .delete(auditEvents)
    .where(inArray(auditEvents.id, old))
    .returning({ id: auditEvents.id });
  return deleted.length;
}
