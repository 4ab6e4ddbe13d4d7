import { and, asc, eq, sql } from "drizzle-orm";
import { type CursorPage, selectPage } from "../db/cursor-page.ts";
import type { Db, Tx } from "../db/database.ts";
import { listBy, prepared } from "../db/prepared.ts";
import { ownedRows } from "../db/rows.ts";
import type { Tables } from "../db/schema.ts";

export type NotificationService = Tables["notificationServices"]["$inferSelect"];

export const {
  find: findNotificationService,
  listPage: listNotificationServicesPage,
  count: countNotificationServices,
  insert: insertNotificationService,
  lock: lockNotificationService,
  updateIfPresent: updateNotificationService,
  deleteIfPresent: deleteNotificationServiceIfPresent,
} = ownedRows<NotificationService>((tables) => tables.notificationServices, { owner: "organizationId" });

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
