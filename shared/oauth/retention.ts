import { deleteEndedAccessTokens } from "../accounts/access-token-store.ts";
import { changeInBatches } from "../db/batches.ts";
import { dayMs } from "../durations.ts";
import { afterMs, type Expiring, expiring } from "../retention/expiring.ts";
import { deleteEmptyGrants, deleteExpiredRefreshTokens } from "./grant-store.ts";

/** For lists, and to notice the reuse of a rotated refresh token. */
const afterWeek = afterMs(7 * dayMs);

/** In this order: a grant goes once it has no tokens. */
export const endedTokens: Expiring[] = [
  expiring("tokens", afterWeek, deleteEndedAccessTokens),
  expiring("tokens", afterWeek, deleteExpiredRefreshTokens),
  { name: "grants", purge: ({ db }) => changeInBatches(db, deleteEmptyGrants) },
];
