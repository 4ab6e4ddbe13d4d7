import { and, eq } from "drizzle-orm";
import type { Db, Tx } from "../../db/database.ts";

/** Returns true if an organization has a service that reaches a chat. */
export async function hasChat(db: Db | Tx, organizationId: string): Promise<boolean> {
  const { notificationServices: services } = db.tables;
  const found = await db
    .select({ id: services.id })
    .from(services)
    .where(
      and(
        eq(services.organizationId, organizationId),
        eq(services.provider, "slack"),
        eq(services.enabled, true),
      ),
    )
    .limit(1);
  return found.length > 0;
}
