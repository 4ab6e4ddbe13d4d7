import { changeInBatches } from "../db/batches.ts";
import type { Services } from "../services/services.ts";
import { redeemableMs, rememberedMs } from "./device-code.ts";
import { deleteExpiredBefore, expireIfOverdue } from "./store.ts";

/**
 * Expires overdue device codes and purges old ones. Nothing depends on it: readers check the times too.
 */
export async function expireDeviceCodes({
  db,
  clock,
}: Services): Promise<{ expired: number; purged: number }> {
  const now = clock.now().getTime();
  const before = { pending: new Date(now), approved: new Date(now - redeemableMs) };
  const expired = await changeInBatches(db, (tx, limit) => expireIfOverdue(tx, before, limit));
  const purged = await changeInBatches(db, (tx, limit) =>
    deleteExpiredBefore(tx, new Date(now - rememberedMs), limit),
  );
  return { expired, purged };
}
