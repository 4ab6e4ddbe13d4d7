import { and, asc, eq, sql } from "drizzle-orm";
import { type CursorPage, selectPage } from "../db/cursor-page.ts";
import type { Db, Tx } from "../db/database.ts";
import { countUpTo, listCreated } from "../db/list-page.ts";
import { listBy, prepared } from "../db/prepared.ts";
import { findRow } from "../db/rows.ts";
import type { Tables } from "../db/schema.ts";

export type NotificationService = Tables["notificationServices"]["$inferSelect"];

export function findNotificationService(
  db: Db | Tx,
  organizationId: string,
  id: string,
): Promise<NotificationService | undefined> {
  const { notificationServices: services } = db.tables;
  return findRow(db, services, and(eq(services.id, id), eq(services.organizationId, organizationId)));
}

/** Oldest first. */
export const listNotificationServicesPage = listCreated<{ organizationId: string }, NotificationService>(
  (db) => ({
    table: db.tables.notificationServices,
    where: eq(db.tables.notificationServices.organizationId, sql.placeholder("organizationId")),
  }),
);

/** Oldest first, from a cursor. */
export function listNotificationServicesFrom(
  db: Db,
  organizationId: string,
  page: CursorPage,
): Promise<NotificationService[]> {
  const { notificationServices: services } = db.tables;
  return selectPage(services.id, { ...page, isOldestFirst: true }, ({ condition, order, limit }) =>
    db
      .select()
      .from(services)
      .where(and(eq(services.organizationId, organizationId), condition))
      .orderBy(order)
      .limit(limit),
  );
}

const selectEnabled = prepared<{ organizationId: string }, NotificationService>((db) => {
  const { notificationServices: services } = db.tables;
  return db
    .select()
    .from(services)
    .where(and(eq(services.organizationId, sql.placeholder("organizationId")), eq(services.enabled, true)))
    .orderBy(asc(services.id));
});

/** Their number is limited. */
export async function listEnabledServices(
  db: Db | Tx,
  organizationId: string,
): Promise<NotificationService[]> {
  return selectEnabled(db, { organizationId });
}

const servicesById = listBy<NotificationService, Db>(({ notificationServices: services }) => services.id);

/** By id. Deleted ones are left out. */
export async function listServicesById(db: Db, ids: string[]): Promise<Map<string, NotificationService>> {
  const found = ids.length === 0 ? [] : await servicesById(db, [...new Set(ids)]);
  return new Map(found.map((service) => [service.id, service]));
}

export function countNotificationServices(tx: Tx, organizationId: string, limit: number): Promise<number> {
  const { notificationServices: services } = tx.tables;
  return countUpTo(tx, services, eq(services.organizationId, organizationId), limit);
}

export async function insertNotificationService(tx: Tx, service: NotificationService): Promise<void> {
  await tx.insert(tx.tables.notificationServices).values(service);
}

/** Locks the service. Undefined if it was deleted. */
export async function lockNotificationService(tx: Tx, id: string): Promise<NotificationService | undefined> {
  const { notificationServices: services } = tx.tables;
  const [locked] = await tx.lock(services, eq(services.id, id), "exclusive");
  return locked;
}

export async function updateNotificationService(
  tx: Tx,
  id: string,
  change: Partial<NotificationService>,
): Promise<void> {
  const { notificationServices: services } = tx.tables;
  await tx.update(services).set(change).where(eq(services.id, id));
}

/** Undefined if it was deleted. */
export async function deleteNotificationServiceIfPresent(
  tx: Tx,
  id: string,
): Promise<NotificationService | undefined> {
  const { notificationServices: services } = tx.tables;
  const [deleted] = await tx.delete(services).where(eq(services.id, id)).returning();
  return deleted;
}
