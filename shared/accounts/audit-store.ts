import { and, desc, eq, gte, inArray, lt, type SQL } from "drizzle-orm";
import {
  type Clauses,
  type CursorPage,
  presentFilters,
  selectFromSlice,
  selectPage,
} from "../db/cursor-page.ts";
import type { Db, Reader, Tx } from "../db/database.ts";
import type { Tables } from "../db/schema.ts";
import { lowestIdAt } from "../ids.ts";
import { uncount } from "../retention/records.ts";

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
  /** A label, key, slug or email address at the time of the entry. */
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

export async function findAuditEvent(db: Db, organizationId: string, id: string) {
  const { auditEvents } = db.tables;
  const isThis = and(eq(auditEvents.id, id), eq(auditEvents.organizationId, organizationId));
  const [found] = await selectWhere(db, isThis, { order: desc(auditEvents.id), limit: 1 });
  return found;
}

/** Like `selectPage`. @throws Refusal 503 if it has to look at too many */
export function listAuditPage(db: Db, filter: AuditFilter, page: CursorPage) {
  return selectPage(db.tables.auditEvents.id, page, (clauses) => selectEvents(db, filter, clauses));
}

async function selectEvents(db: Db, filter: AuditFilter, { condition, order, limit }: Clauses) {
  const { auditEvents } = db.tables;
  const { isIndexed, rest } = conditionsOf(db, filter);
  const where = and(isIndexed, condition);
  const select = (condition: SQL | undefined) => selectWhere(db, condition, { order, limit });
  if (rest.length === 0) return select(where);
  return selectFromSlice(auditEvents.id, {
    slice: (columns) => db.select(columns).from(auditEvents).where(where).orderBy(order),
    equal: presentFilters(rest.map((column) => [auditEvents[column], filter[column]])),
    size: 2000,
    limit,
    select,
    refusal: "Too many entries to look through. Add a first and a last day.",
  });
}

/**
 * A part of the log, newest first, for callers that read all of it. An index finds `size` entries, and the filter may
 * leave out most or all of them.
 * @returns next: where the next part starts; undefined after the last
 */
export async function listAuditPart(
  db: Db,
  filter: AuditFilter,
  { olderThan, size }: { olderThan: string | undefined; size: number },
) {
  const { id } = db.tables.auditEvents;
  const { isIndexed, rest } = conditionsOf(db, filter);
  const where = and(isIndexed, olderThan === undefined ? undefined : lt(id, olderThan));
  const rows = await selectWhere(db.offLoop, where, { order: desc(id), limit: size });
  return {
    entries: rows.filter(({ event }) => rest.every((column) => event[column] === filter[column])),
    next: rows[size - 1]?.event.id,
  };
}

const compared = ["actorId", "action", "subjectType", "subject"] as const;

/** An index serves one of the filter's columns, except the subject, and the order. `rest` has the other columns. */
function conditionsOf({ tables: { auditEvents } }: Reader, filter: AuditFilter) {
  const { organizationId, subjects, from, to } = filter;
  const present = compared.filter((column) => filter[column]);
  const first = present.find((column) => column !== "subject");
  const isIndexed = and(
    eq(auditEvents.organizationId, organizationId),
    subjects && inArray(auditEvents.subjectType, subjects.types),
    subjects && inArray(auditEvents.subjectId, subjects.ids),
    from && gte(auditEvents.id, lowestIdAt(from)),
    to && lt(auditEvents.id, lowestIdAt(new Date(to.getTime() + 1))),
    first && eq(auditEvents[first], filter[first] ?? ""),
  );
  return { isIndexed, rest: present.filter((column) => column !== first) };
}

function selectWhere(db: Reader, where: SQL | undefined, { order, limit }: Pick<Clauses, "order" | "limit">) {
  const { auditEvents, users } = db.tables;
  return db
    .select({ event: auditEvents, actor: users.name })
    .from(auditEvents)
    .innerJoin(users, eq(users.id, auditEvents.actorId))
    .where(where)
    .orderBy(order)
    .limit(limit);
}

export async function deleteAuditEventsBefore(tx: Tx, time: Date, limit: number): Promise<number> {
  const { auditEvents } = tx.tables;
  const { id, createdAt } = auditEvents;
  const rows = await tx.select({ id }).from(auditEvents).where(lt(createdAt, time)).limit(limit);
  const ids = rows.map((row) => row.id);
  await uncount(tx, "auditEvents", ids);
  await tx.delete(auditEvents).where(inArray(id, ids));
  return ids.length;
}
