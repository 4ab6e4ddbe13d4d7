import { deleteEndedAccessTokens } from "../accounts/access-token-store.ts";
import type { Tx } from "../db/database.ts";
import { dayMs } from "../durations.ts";
import { afterMs, type Expiring, expiring } from "../retention/expiring.ts";
import { deleteExpiredRefreshTokens, deleteIfEmpty } from "./grant-store.ts";

/** For lists, and to notice the reuse of a rotated refresh token. */
const afterWeek = afterMs(7 * dayMs);

export const endedTokens: Expiring[] = [
  expiring("tokens", afterWeek, withGrants(deleteEndedAccessTokens)),
  expiring("tokens", afterWeek, withGrants(deleteExpiredRefreshTokens)),
];

/** The last token of a grant takes it along. */
function withGrants(deleteTokens: (tx: Tx, time: Date, limit: number) => Promise<(string | null)[]>) {
  return async (tx: Tx, time: Date, limit: number) => {
    const grantIds = await deleteTokens(tx, time, limit);
    await deleteIfEmpty(
      tx,
      [...new Set(grantIds)].filter((id) => id !== null),
    );
    return grantIds.length;
  };
}
