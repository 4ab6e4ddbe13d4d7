import { and, desc, eq, gte, inArray, lt, type SQL } from "drizzle-orm";
import {
  type Clauses,
  type CursorPage,
  presentFilters,
  selectFromSlice,
  selectPage,
} from "../db/cursor-page.ts";
import type { Db, Tx } from "../db/database.ts";
import type { Tables } from "../db/schema.ts";
import { lowestIdAt } from "../ids.ts";

export type AuditEvent = Tables["auditEvents"]["$inferSelect"];

export async function insertAuditEvents(tx: Tx, events: AuditEvent[]): Promise<void> {
  await tx.insertMany(tx.tables.auditEvents, events);
}

export interface AuditFilter {
  organizationId: string;
  subjects?: { types: string[]; ids: string[] };
  actorId?: string | undefined;
  action?: string | undefined;
  subjectType?: string | undefined;
  /** A label, key, slug or email address, as it was. */
  subject?: string | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
}

/** Newest first. @throws Refusal 503 if it has to look at too many */
export function listAuditEvents(db: Db, filter: AuditFilter, limit: number) {
  return selectEvents(db, filter, {
    condition: undefined,
    order: desc(db.tables.auditEvents.id),
    limit,
  });
}

/** As `selectPage`. @throws Refusal 503 if it has to look at too many */
export function listAuditPage(db: Db, filter: AuditFilter, page: CursorPage) {
  return selectPage(db.tables.auditEvents.id, page, (clauses) => selectEvents(db, filter, clauses));
}

async function selectEvents(db: Db, filter: AuditFilter, { condition, order, limit }: Clauses) {
  const { auditEvents, users } = db.tables;
  const { organizationId, subjects, actorId, action, subjectType, subject, from, to } = filter;
  const scope = and(
    eq(auditEvents.organizationId, organizationId),
    subjects && inArray(auditEvents.subjectType, subjects.types),
    subjects && inArray(auditEvents.subjectId, subjects.ids),
    from && gte(auditEvents.id, lowestIdAt(from)),
    to && lt(auditEvents.id, lowestIdAt(new Date(to.getTime() + 1))),
    condition,
  );
  // An index has one of these, and the order.
  const [indexed, ...rest] = presentFilters([
    [auditEvents.actorId, actorId],
    [auditEvents.action, action],
    [auditEvents.subjectType, subjectType],
  ]);
  rest.push(...presentFilters([[auditEvents.subject, subject]]));

  const select = (where: SQL | undefined) =>
    db
      .select({ event: auditEvents, actor: users.name })
      .from(auditEvents)
      .innerJoin(users, eq(users.id, auditEvents.actorId))
      .where(where)
      .orderBy(order)
      .limit(limit);
  const where = and(scope, indexed && eq(...indexed));
  if (rest.length === 0) return select(where);
  return selectFromSlice(auditEvents.id, {
    slice: (columns) => db.select(columns).from(auditEvents).where(where).orderBy(order),
    ...{ size: 2000, equal: rest, limit, select },
    refusal: "Too many entries to look through. Add a first and a last day.",
  });
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
