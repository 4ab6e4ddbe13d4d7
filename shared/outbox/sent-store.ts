import { and, desc, eq, getTableColumns } from "drizzle-orm";
import type { Db } from "../db/database.ts";
import type { Message } from "./kind.ts";
import type { Receiver } from "./store.ts";

/** A message without what was sent, which may be long. */
export type ListedMessage = Omit<Message, "request" | "target">;

function listedColumns({ tables: { outbox } }: Db) {
  const { request, target, ...columns } = getTableColumns(outbox);
  return columns;
}

/** The last messages of a notification service, newest first. */
export function listMessagesOfService(db: Db, serviceId: string, limit: number): Promise<ListedMessage[]> {
  const { outbox } = db.tables;
  return db
    .select(listedColumns(db))
    .from(outbox)
    .where(eq(outbox.serviceId, serviceId))
    .orderBy(desc(outbox.id))
    .limit(limit);
}

/** A message of a notification service, with what was sent. */
export async function findMessageOfService(
  db: Db,
  { serviceId, id }: { serviceId: string; id: string },
): Promise<Message | undefined> {
  const { outbox } = db.tables;
  const [found] = await db
    .select()
    .from(outbox)
    .where(and(eq(outbox.id, id), eq(outbox.serviceId, serviceId)));
  return found;
}

/** The last messages that tell of a build, newest first. */
export function listMessagesOfBuild(db: Db, buildId: string, limit: number): Promise<ListedMessage[]> {
  const { outbox } = db.tables;
  return db
    .select(listedColumns(db))
    .from(outbox)
    .where(eq(outbox.buildId, buildId))
    .orderBy(desc(outbox.id))
    .limit(limit);
}

/** Undefined: nothing waits for the receiver. */
export async function findReceiver(
  db: Db,
  { organizationId, receiver }: { organizationId: string; receiver: string },
): Promise<Receiver | undefined> {
  const { outboxReceivers: table } = db.tables;
  const [found] = await db
    .select()
    .from(table)
    .where(and(eq(table.organizationId, organizationId), eq(table.receiver, receiver)));
  return found;
}
