import { and, asc, desc, eq, getTableColumns, inArray, isNotNull } from "drizzle-orm";
import type { Db, Tx } from "../db/database.ts";
import type { Message } from "./kind.ts";
import { beginsWith, type Receiver } from "./store.ts";

/** A message without what was sent, which may be long. */
export type ListedMessage = Omit<Message, "request" | "target">;

function listedColumns({ tables: { outbox } }: Db | Tx) {
  const { request, target, ...columns } = getTableColumns(outbox);
  return columns;
}

/** The last messages of a notification service, newest first. */
export function listMessagesOfService(
  db: Db | Tx,
  serviceId: string,
  limit: number,
): Promise<ListedMessage[]> {
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

/** The receivers of these keys that have messages waiting, by their keys. */
export async function listReceivers(
  db: Db,
  organizationId: string,
  receivers: string[],
): Promise<Map<string, Receiver>> {
  const { outboxReceivers: table } = db.tables;
  if (receivers.length === 0) return new Map();
  const found = await db
    .select()
    .from(table)
    .where(and(eq(table.organizationId, organizationId), inArray(table.receiver, [...new Set(receivers)])));
  return new Map(found.map((row) => [row.receiver, row]));
}

/** Of the receivers whose keys begin so, the one that has failed for longest. */
export async function findFailingReceiver(
  db: Db | Tx,
  { organizationId, beginning }: { organizationId: string; beginning: string },
): Promise<Receiver | undefined> {
  const { outboxReceivers: table } = db.tables;
  const [found] = await db
    .select()
    .from(table)
    .where(
      and(
        eq(table.organizationId, organizationId),
        beginsWith(table.receiver, beginning),
        isNotNull(table.failingSince),
      ),
    )
    .orderBy(asc(table.failingSince))
    .limit(1);
  return found;
}
