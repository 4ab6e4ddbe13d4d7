import { and, asc, eq, gt, inArray, or } from "drizzle-orm";
import type { Db, Tx } from "../db/database.ts";
import { publishAfterCommit } from "../db/transaction-guard.ts";
import { idBelowAll } from "../ids.ts";
import { later } from "../tasks/store.ts";
import type { Message } from "./kind.ts";
import { beginsWith, isWaiting } from "./store.ts";

/** A notification service or a repository connection. */
interface Sender {
  id: string;
  organizationId: string;
}

/**
 * Makes receivers of a service or connection due, whose keys begin so, and soon their messages that rest. A try of one of
 * them that fails at present counts for nothing.
 */
export async function wakeReceivers(
  tx: Tx,
  { id, organizationId }: Sender,
  beginning: string,
): Promise<void> {
  const { outboxReceivers: table } = tx.tables;
  const woken = await tx
    .update(table)
    .set({ dueAt: tx.now, failures: 0 })
    .where(and(eq(table.organizationId, organizationId), beginsWith(table.receiver, beginning)))
    .returning({ receiver: table.receiver });
  if (woken.length === 0) return;
  await later(tx, "wake", organizationId, [id]);
  publishAfterCommit([{ kind: "news", subjectId: organizationId, organizationId }]);
}

/** Messages of a service or connection that rest, after an id. */
export function listResting(
  db: Db,
  { id, organizationId }: Sender,
  { now, after = idBelowAll, limit }: { now: Date; after: string | undefined; limit: number },
): Promise<Pick<Message, "id" | "receiver">[]> {
  const { outbox } = db.tables;
  return db.offLoop
    .select({ id: outbox.id, receiver: outbox.receiver })
    .from(outbox)
    .where(
      and(
        isWaiting(db.tables),
        eq(outbox.organizationId, organizationId),
        or(eq(outbox.serviceId, id), eq(outbox.connectionId, id)),
        gt(outbox.dueAt, now),
        gt(outbox.id, after),
      ),
    )
    .orderBy(asc(outbox.id))
    .limit(limit);
}

/**
 * Makes messages of an organization due that rest. Messages that ended meanwhile may be among them: to look at their state
 * would select an index of all that wait.
 */
export async function makeDueIfResting(tx: Tx, organizationId: string, ids: string[]): Promise<void> {
  const { outbox } = tx.tables;
  await tx
    .update(outbox)
    .set({ dueAt: tx.now })
    .where(and(eq(outbox.organizationId, organizationId), inArray(outbox.id, ids), gt(outbox.dueAt, tx.now)));
}
