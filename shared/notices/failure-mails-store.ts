import { and, eq, isNotNull, isNull } from "drizzle-orm";
import type { Tx } from "../db/database.ts";

/** The part of an organization that sends, and fails. */
export interface Sender {
  type: "service" | "connection";
  id: string;
}

/**
 * Keeps when admins were mailed that a sender fails; null once it works.
 * @returns false if that is kept already
 */
export async function setMailed(tx: Tx, { type, id }: Sender, at: Date | null): Promise<boolean> {
  const { notificationServices, repositoryConnections } = tx.tables;
  const table = type === "service" ? notificationServices : repositoryConnections;
  const changed = await tx
    .update(table)
    .set({ failureMailedAt: at })
    .where(and(eq(table.id, id), at ? isNull(table.failureMailedAt) : isNotNull(table.failureMailedAt)))
    .returning({ id: table.id });
  return changed.length > 0;
}
