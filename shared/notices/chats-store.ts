import { and, asc, eq } from "drizzle-orm";
import type { Db, Tx } from "../db/database.ts";
import type { Chat } from "./chats.ts";

/** The chats of an organization: its notification services for Slack that are switched on. */
export async function listChats(tx: Tx, organizationId: string): Promise<Chat[]> {
  const { notificationServices: services } = tx.tables;
  const found = await tx
    .select({ id: services.id, settings: services.settings })
    .from(services)
    .where(
      and(
        eq(services.organizationId, organizationId),
        eq(services.provider, "slack"),
        eq(services.enabled, true),
      ),
    )
    .orderBy(asc(services.id));
  return found.map(({ id, settings }) => ({
    serviceId: id,
    channel: typeof settings?.channel === "string" ? settings.channel : null,
  }));
}

/** The sealed address of a chat. Undefined: it is gone, or switched off. */
export async function findSealedAddress(db: Db, id: string): Promise<string | undefined> {
  const { notificationServices: services } = db.tables;
  const [found] = await db
    .select({ address: services.secretSealed })
    .from(services)
    .where(and(eq(services.id, id), eq(services.enabled, true)));
  return found?.address ?? undefined;
}
