import { changeInBatches } from "../db/batches.ts";
import { findOwnerOfQueue, listQueuesToFanOut } from "../dispatch/store.ts";
import type { Services } from "../process/services.ts";
import { later } from "../tasks/store.ts";
import { adoptDeliveries, listBulkRebuildsWithoutTask, moveFollowUps } from "./former-work-store.ts";

const maxAtOnce = 200;

/**
 * Makes tasks of the work that processes of a former release left: their follow-ups, pauses and bulk rebuilds. Their
 * deliveries get an organization, by which workers find them. The next
 * release drops it.
 */
export async function takeOverFormerWork({ db }: Services): Promise<void> {
  await changeInBatches(db, adoptDeliveries, maxAtOnce);
  await changeInBatches(db, moveFollowUps, maxAtOnce);
  for (const { id, organizationId } of await listBulkRebuildsWithoutTask(db, maxAtOnce))
    await db.transaction((tx) => later(tx, "bulk_rebuild", organizationId, [id]));
  for (const queueId of await listQueuesToFanOut(db)) {
    const owner = await findOwnerOfQueue(db, queueId);
    if (owner !== undefined) await db.transaction((tx) => later(tx, "pause", owner, [queueId]));
  }
}
