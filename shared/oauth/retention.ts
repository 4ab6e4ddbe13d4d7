import { deleteEndedAccessTokens } from "../accounts/access-token-store.ts";
import { purgeInBatches } from "../db/purge-in-batches.ts";
import { dayMs } from "../durations.ts";
import type { Services } from "../process/services.ts";
import { deleteEmptyGrants, deleteExpiredRefreshTokens } from "./grant-store.ts";

/** For lists, and to notice the reuse of a rotated refresh token. */
const retentionMs = 7 * dayMs;

/** Purges ended tokens, then grants without tokens. Returns the number of tokens. */
export async function purgeTokens({ db, clock }: Services): Promise<number> {
  const before = new Date(clock.now().getTime() - retentionMs);
  const access = await purgeInBatches(db, (tx, limit) => deleteEndedAccessTokens(tx, before, limit));
  const refresh = await purgeInBatches(db, (tx, limit) => deleteExpiredRefreshTokens(tx, before, limit));
  await purgeInBatches(db, deleteEmptyGrants);
  return access + refresh;
}
