import { deleteEndedAccessTokens } from "../accounts/access-token-store.ts";
import { purgeInBatches } from "../db/purge-in-batches.ts";
import type { Services } from "../runtime/services.ts";
import { deleteEmptyGrants, deleteExpiredRefreshTokens } from "./grant-store.ts";

/** How long after its end a token is kept: for lists, and to notice that a rotated refresh token is used again. */
const keptMs = 7 * 86_400_000;

/** Forget tokens that ended long ago, then grants that have none left. Returns how many tokens went. */
export async function purgeTokens({ db, clock }: Services): Promise<number> {
  const before = new Date(clock.now().getTime() - keptMs);
  const access = await purgeInBatches(db, (tx, limit) => deleteEndedAccessTokens(tx, before, limit));
  const refresh = await purgeInBatches(db, (tx, limit) => deleteExpiredRefreshTokens(tx, before, limit));
  await purgeInBatches(db, deleteEmptyGrants);
  return access + refresh;
}
