import { deleteEndedAccessTokens } from "../accounts/access-token-store.ts";
import { purgeInBatches } from "../db/purge-in-batches.ts";
import { dayMs } from "../durations.ts";
import type { Services } from "../runtime/services.ts";
import { deleteEmptyGrants, deleteExpiredRefreshTokens } from "./grant-store.ts";

/** Keeps ended tokens for a while: lists show them, and the reuse of a rotated refresh token is noticed. */
const retentionMs = 7 * dayMs;

/** Purges tokens that ended long ago, then grants without tokens. Returns the number of tokens purged. */
export async function purgeTokens({ db, clock }: Services): Promise<number> {
  const before = new Date(clock.now().getTime() - retentionMs);
  const access = await purgeInBatches(db, (tx, limit) => deleteEndedAccessTokens(tx, before, limit));
  const refresh = await purgeInBatches(db, (tx, limit) => deleteExpiredRefreshTokens(tx, before, limit));
  await purgeInBatches(db, deleteEmptyGrants);
  return access + refresh;
}
