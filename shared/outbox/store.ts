import { and, asc, desc, eq, gt, inArray, isNotNull, isNull, lt, lte, or, type SQL, sql } from "drizzle-orm";
import type { AnySQLiteColumn, SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { Db, Tx } from "../db/database.ts";
import { isOneOf, prepared, preparedRow, valueFor } from "../db/prepared.ts";
import type { Tables } from "../db/schema.ts";
import { searchOfOwners } from "../tasks/owners-store.ts";
import type { Message } from "./kind.ts";

export type Receiver = Tables["outboxReceivers"]["$inferSelect"];
type ReceiverKey = Pick<Receiver, "organizationId" | "receiver">;

const rowsOfStatement = 200;

/** The indexes are partial: a parameter would not use them. */
export const isWaiting = ({ outbox }: Tables): SQL => sql`${outbox.state} = 'waiting'`;

/** Makes receivers of new messages due, unless they failed. */
export async function putReceivers(
  tx: Tx,
  organizationId: string,
  receivers: string[],
  now: Date,
): Promise<void> {
  const { outboxReceivers } = tx.tables;
  const none = { takenUntil: null, failures: 0, failingSince: null, problem: null };
  const { failures, dueAt } = outboxReceivers;
  const isEarlier = sql`${failures} = 0 and excluded.due_at < ${dueAt}`;
  for (let start = 0; start < receivers.length; start += rowsOfStatement) {
    const some = receivers.slice(start, start + rowsOfStatement);
    await tx
      .insert(outboxReceivers)
      .values(some.map((receiver) => ({ organizationId, receiver, dueAt: now, ...none })))
      .onConflictDoUpdate({
        target: [outboxReceivers.organizationId, outboxReceivers.receiver],
        // Also if nothing changes, it locks the row: a process that ends its turn sees these messages.
        set: { dueAt: sql`case when ${isEarlier} then excluded.due_at else ${dueAt} end` },
      });
  }
}

const moved = [
  "service_id",
  "connection_id",
  "build_id",
  "job_id",
  "agent_id",
  "event",
  "target",
  "due_at",
  "created_at",
].map((column) => `${column} = excluded.${column}`);
const moveOn =
  "on conflict (organization_id, receiver, topic) where state = 'waiting' and topic is not null do update set " +
  ["revision = outbox.revision + 1", "tries = 0", ...moved].join(", ");

/** Writes messages. One about a topic that waits already is moved on. */
export async function insertMessages(tx: Tx, rows: Message[]): Promise<void> {
  await tx.insertMany(tx.tables.outbox, rows, moveOn);
}

/** Finds the next organization that has receivers with messages, due or not. */
export const findNextOwner = searchOfOwners(({ outboxReceivers }) => outboxReceivers.organizationId);

/** Receivers of an organization that are due and that no process has, those that wait longest first. */
export function listDueReceivers(
  db: Db,
  {
    isFailing,
    ...which
  }: Pick<Receiver, "organizationId"> & { now: Date; isFailing: boolean; limit: number },
): PromiseLike<Receiver[]> {
  return isFailing ? dueReceivers.failing(db, which) : dueReceivers.sound(db, which);
}

const dueReceivers = {
  failing: prepareDueReceivers(({ failures }) => gt(failures, 0)),
  sound: prepareDueReceivers(({ failures }) => eq(failures, 0)),
};

function prepareDueReceivers(isMeant: (table: Tables["outboxReceivers"]) => SQL) {
  return prepared<Pick<Receiver, "organizationId"> & { now: Date; limit: number }, Receiver, Db>((db) => {
    const { outboxReceivers: table } = db.tables;
    const isOfOwner = eq(table.organizationId, sql.placeholder("organizationId"));
    return db
      .select()
      .from(table)
      .where(and(isOfOwner, isDue(table, valueFor(table.dueAt, "now")), isMeant(table)))
      .orderBy(asc(table.dueAt))
      .limit(sql.placeholder("limit"));
  });
}

function isDue({ dueAt, takenUntil }: Tables["outboxReceivers"], now: SQL): SQL | undefined {
  return and(lte(dueAt, now), or(isNull(takenUntil), lte(takenUntil, now)));
}

/** Of processes that take a receiver at once, one gets it. */
export const takeReceiverIfDue = preparedRow<ReceiverKey & { now: Date; until: Date }, Receiver, Tx>((tx) => {
  const { outboxReceivers: table } = tx.tables;
  return tx
    .update(table)
    .set({ takenUntil: valueFor(table.takenUntil, "until") })
    .where(and(isNamed(table), isDue(table, valueFor(table.dueAt, "now"))))
    .returning();
});

export const lockReceiver = preparedRow<ReceiverKey, Receiver, Tx>((tx) => {
  const { outboxReceivers: table } = tx.tables;
  return tx.lock(table, isNamed(table), "exclusive");
});

export async function updateReceiver(tx: Tx, key: ReceiverKey, change: Partial<Receiver>): Promise<void> {
  const { outboxReceivers: table } = tx.tables;
  await tx.update(table).set(change).where(isReceiver(table, key));
}

export async function deleteReceiver(tx: Tx, key: ReceiverKey): Promise<void> {
  const { outboxReceivers: table } = tx.tables;
  await tx.delete(table).where(isReceiver(table, key));
}

function isReceiver(table: Tables["outboxReceivers"], { organizationId, receiver }: ReceiverKey) {
  return and(eq(table.organizationId, organizationId), eq(table.receiver, receiver));
}

/** Waiting messages of a receiver that are due, oldest first. */
export const listDueMessages = prepared<ReceiverKey & { now: Date; limit: number }, Message, Db>((db) => {
  const { outbox } = db.tables;
  return db
    .select()
    .from(outbox)
    .where(and(isWaiting(db.tables), isNamed(outbox), lte(outbox.dueAt, valueFor(outbox.dueAt, "now"))))
    .orderBy(asc(outbox.dueAt), asc(outbox.id))
    .limit(sql.placeholder("limit"));
});

/** Returns when the next message of a receiver is due. */
export async function findNextDue(
  tx: Tx,
  { organizationId, receiver }: ReceiverKey,
): Promise<Date | undefined> {
  return (await nextDue(tx, { organizationId, receiver }))?.dueAt;
}

const nextDue = preparedRow<ReceiverKey, Pick<Message, "dueAt">, Tx>((tx) => {
  const { outbox } = tx.tables;
  return tx
    .select({ dueAt: outbox.dueAt })
    .from(outbox)
    .where(and(isWaiting(tx.tables), isNamed(outbox)))
    .orderBy(asc(outbox.dueAt))
    .limit(1);
});

/** Is the receiver of a prepared query. */
function isNamed(table: Tables["outbox"] | Tables["outboxReceivers"]): SQL | undefined {
  return and(
    eq(table.organizationId, sql.placeholder("organizationId")),
    eq(table.receiver, sql.placeholder("receiver")),
  );
}

function isWaitingAt(tables: Tables, { organizationId, receiver }: ReceiverKey): SQL | undefined {
  const { outbox } = tables;
  return and(isWaiting(tables), eq(outbox.organizationId, organizationId), eq(outbox.receiver, receiver));
}

/** The columns that a try changes. */
const columnsOfTry = [
  "state",
  "tries",
  "dueAt",
  "endedAt",
  "answerStatus",
  "answer",
  "durationMs",
  "request",
] as const;
type TryColumns = Pick<Message, (typeof columnsOfTry)[number]>;

/** Stores how a try went, unless later news moved the message on meanwhile. */
export async function updateMessageIfSame(
  tx: Tx,
  message: Message,
  change: Partial<TryColumns>,
): Promise<void> {
  await setColumnsOfTry(tx, { ...message, ...change });
}

const setColumnsOfTry = prepared<
  Pick<Message, "id" | "organizationId" | "revision"> & TryColumns,
  Pick<Message, "id">,
  Tx
>((tx) => {
  const { outbox } = tx.tables;
  return tx
    .update(outbox)
    .set(
      Object.fromEntries(columnsOfTry.map((name) => [name, valueFor(outbox[name] as AnySQLiteColumn, name)])),
    )
    .where(
      and(
        // Else Postgres would read all waiting messages, where it takes them for few.
        eq(outbox.organizationId, sql.placeholder("organizationId")),
        eq(outbox.id, sql.placeholder("id")),
        eq(outbox.state, "waiting"),
        eq(outbox.revision, sql.placeholder("revision")),
      ),
    )
    .returning({ id: outbox.id });
});

/** Gives up messages of a receiver that have waited too long. @returns their kinds */
export async function failOldMessages(
  tx: Tx,
  key: ReceiverKey,
  { before, now, limit }: { before: Date; now: Date; limit: number },
): Promise<Pick<Message, "kind">[]> {
  const { outbox } = tx.tables;
  const old = tx
    .select({ id: outbox.id })
    .from(outbox)
    .where(and(isWaitingAt(tx.tables, key), lt(outbox.createdAt, before), lte(outbox.dueAt, now)))
    .orderBy(asc(outbox.dueAt))
    .limit(limit);
  return tx
    .update(outbox)
    .set({ state: "failed", endedAt: now })
    .where(inArray(outbox.id, old))
    .returning({ kind: outbox.kind });
}

/** Rows that a turn may have left behind the last requests. */
const maxForgotten = 100;

/** Forgets the requests of a service that were sent before its last ones. */
export async function forgetOldRequests(tx: Tx, serviceId: string, kept: number): Promise<void> {
  const older = await sentBefore(tx, { serviceId, kept });
  if (older.length > 0) await forgetRequests(tx, { ids: older.map(({ id }) => id) });
}

const sentBefore = prepared<{ serviceId: string; kept: number }, Pick<Message, "id">, Tx>((tx) => {
  const { outbox } = tx.tables;
  return tx
    .select({ id: outbox.id })
    .from(outbox)
    .where(eq(outbox.serviceId, sql.placeholder("serviceId")))
    .orderBy(desc(outbox.id))
    .offset(sql.placeholder("kept"))
    .limit(maxForgotten);
});

const forgetRequests = prepared<{ ids: string[] }, Pick<Message, "id">, Tx>((tx) => {
  const { outbox } = tx.tables;
  return tx
    .update(outbox)
    .set({ request: null })
    .where(and(isOneOf(outbox.id, "ids"), eq(outbox.state, "sent"), isNotNull(outbox.request)))
    .returning({ id: outbox.id });
});

/** @returns the number deleted */
export async function deleteMessagesBefore(tx: Tx, time: Date, limit: number): Promise<number> {
  const { outbox } = tx.tables;
  const old = await tx.select({ id: outbox.id }).from(outbox).where(lt(outbox.endedAt, time)).limit(limit);
  if (old.length > 0)
    await tx.delete(outbox).where(
      inArray(
        outbox.id,
        old.map(({ id }) => id),
      ),
    );
  return old.length;
}

/** Compares without an order of characters, which databases have in several ways. */
export function beginsWith(column: SQLiteColumn, beginning: string): SQL {
  return sql`substr(${column}, 1, ${beginning.length}) = ${beginning}`;
}
