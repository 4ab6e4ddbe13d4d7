import { changeInBatches } from "../db/batches.ts";
import type { Tx } from "../db/database.ts";
import { publishAfterCommit } from "../db/transaction-guard.ts";
import type { Services } from "../services/services.ts";
import { dropIfOpen, listFailedIds, listOpen, makeDueIfOpen, makeReceiversDue } from "./list-store.ts";
import { putReceivers } from "./store.ts";

/** Sends messages that wait or have failed again, and asks their receivers at once. @returns the ids of those there are */
export function retryMessages({ db }: Services, organizationId: string, ids: string[]): Promise<string[]> {
  return db.transaction((tx) => retryIn(tx, organizationId, ids));
}

/** Sends all messages again that have failed. @returns their number */
export function retryAllFailed({ db }: Services, organizationId: string): Promise<number> {
  return changeInBatches(db, async (tx, limit) => {
    const ids = await listFailedIds(tx, organizationId, limit);
    return (await retryIn(tx, organizationId, ids)).length;
  });
}

/** Messages that wait or have failed are not sent any more. @returns the ids of those there are */
export function dropMessages({ db }: Services, organizationId: string, ids: string[]): Promise<string[]> {
  return db.transaction(async (tx) => (await dropIfOpen(tx, organizationId, ids)).map(({ id }) => id));
}

async function retryIn(tx: Tx, organizationId: string, ids: string[]): Promise<string[]> {
  const open = await listOpen(tx, organizationId, ids);
  if (open.length === 0) return [];
  const receivers = [...new Set(open.map(({ receiver }) => receiver))].sort();
  await putReceivers(tx, organizationId, receivers, tx.now);
  await makeReceiversDue(tx, organizationId, receivers);
  const retried = await makeDueIfOpen(
    tx,
    organizationId,
    open.map(({ id }) => id),
  );
  publishAfterCommit([{ kind: "news", subjectId: organizationId, organizationId }]);
  return retried.map(({ id }) => id);
}
