import { and, asc, count, desc, eq, inArray, lt, type SQL, sql } from "drizzle-orm";
import type { Db, Reader, Tx } from "../db/database.ts";
import { capTotal, countUpTo, type ListedRows, type ListPage, listedRows } from "../db/list-page.ts";
import type { Tables } from "../db/schema.ts";
import type { MessageKindName } from "../vocabulary.ts";
import { type Message, type OpenState, openStates } from "./kind.ts";

/** Literals, because a parameter does not select the partial indexes. */
function isIn({ outbox }: Tables, state: OpenState): SQL {
  return state === "failed" ? sql`${outbox.state} = 'failed'` : sql`${outbox.state} = 'waiting'`;
}

/** Messages of an organization in a state, newest first. */
export async function listMessagesPage(
  db: Db,
  { organizationId, state }: { organizationId: string; state: OpenState },
  page: ListPage,
): Promise<ListedRows<Message>> {
  const { outbox } = db.tables;
  const { limit, offset, after } = page;
  const isListed = and(eq(outbox.organizationId, organizationId), isIn(db.tables, state));
  const total = capTotal(await countUpTo(db, outbox, isListed));
  const rows = await db
    .select()
    .from(outbox)
    .where(and(isListed, after && lt(outbox.id, after.id)))
    .orderBy(desc(outbox.id))
    .limit(limit + 1)
    .offset(after ? 0 : offset);
  const cursorOf = ({ createdAt, id }: Message) => ({ number: createdAt.getTime(), id });
  return listedRows(rows, page, { total, cursorOf });
}

/** The oldest failed messages of an organization. */
export async function listFailedIds(tx: Tx, organizationId: string, limit: number): Promise<string[]> {
  const { outbox } = tx.tables;
  const found = await tx
    .select({ id: outbox.id })
    .from(outbox)
    .where(and(eq(outbox.organizationId, organizationId), isIn(tx.tables, "failed")))
    .orderBy(asc(outbox.id))
    .limit(limit);
  return found.map(({ id }) => id);
}

type Named = Pick<Message, "id" | "receiver">;

function isOpen(tables: Tables, organizationId: string, ids: string[]): SQL | undefined {
  const { outbox } = tables;
  return and(
    eq(outbox.organizationId, organizationId),
    inArray(outbox.id, ids),
    inArray(outbox.state, [...openStates]),
  );
}

/** The messages among some that wait or have failed. */
export function listOpen(tx: Tx, organizationId: string, ids: string[]): Promise<Named[]> {
  const { outbox } = tx.tables;
  return tx
    .select({ id: outbox.id, receiver: outbox.receiver })
    .from(outbox)
    .where(isOpen(tx.tables, organizationId, ids));
}

/** waiting, failed → waiting, and due. A failed message loses its topic, because another one about it may wait. */
export function makeDueIfOpen(tx: Tx, organizationId: string, ids: string[]): Promise<Named[]> {
  const { outbox } = tx.tables;
  const { tables, now } = tx;
  return tx
    .update(outbox)
    .set({
      topic: sql`case when ${outbox.state} = 'waiting' then ${outbox.topic} end`,
      state: "waiting",
      tries: 0,
      dueAt: now,
      createdAt: now,
      endedAt: null,
    })
    .where(isOpen(tables, organizationId, ids))
    .returning({ id: outbox.id, receiver: outbox.receiver });
}

/** waiting, failed → dropped. */
export function dropIfOpen(tx: Tx, organizationId: string, ids: string[]): Promise<Named[]> {
  const { outbox } = tx.tables;
  return tx
    .update(outbox)
    .set({ state: "dropped", endedAt: tx.now })
    .where(isOpen(tx.tables, organizationId, ids))
    .returning({ id: outbox.id, receiver: outbox.receiver });
}

/** Lets receivers be asked again, whatever failed before. A try that fails at present counts for nothing. */
export async function makeReceiversDue(tx: Tx, organizationId: string, receivers: string[]): Promise<void> {
  const { outboxReceivers: table } = tx.tables;
  await tx
    .update(table)
    .set({ dueAt: tx.now, failures: 0 })
    .where(and(eq(table.organizationId, organizationId), inArray(table.receiver, receivers)));
}

/** Counts messages of a kind that wait, up to a limit, and finds the oldest. */
export async function findWaitingMessages(
  db: Reader,
  kind: MessageKindName,
  limit: number,
): Promise<{ total: number; createdAt: Date | undefined }> {
  const { outbox } = db.tables;
  const isOfKind = and(eq(outbox.kind, kind), isIn(db.tables, "waiting"));
  const [oldest] = await db
    .select({ createdAt: outbox.createdAt })
    .from(outbox)
    .where(isOfKind)
    .orderBy(asc(outbox.createdAt))
    .limit(1);
  return { total: await countUpTo(db, outbox, isOfKind, limit), createdAt: oldest?.createdAt };
}

/** Returns the time of the oldest news, of which no message was made yet. */
export async function findOldestNews(db: Reader): Promise<Date | undefined> {
  const { news } = db.tables;
  const [oldest] = await db.select({ at: news.createdAt }).from(news).orderBy(asc(news.id)).limit(1);
  return oldest?.at;
}

/** Counts failed messages by kind, up to a limit in all. */
export async function countFailed(db: Reader, limit: number): Promise<Map<MessageKindName, number>> {
  const { outbox } = db.tables;
  const some = db
    .select({ kind: outbox.kind })
    .from(outbox)
    .where(isIn(db.tables, "failed"))
    .limit(limit)
    .as("some_failed");
  const counts = await db.select({ kind: some.kind, total: count() }).from(some).groupBy(some.kind);
  return new Map(counts.map(({ kind, total }) => [kind, total]));
}
