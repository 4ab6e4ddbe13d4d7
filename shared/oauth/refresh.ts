import { lockActiveRole } from "../accounts/member-store.ts";
import { grantableScopes } from "../accounts/scopes.ts";
import { hashToken, isWellFormedToken } from "../crypto/tokens.ts";
import type { Tx } from "../db/database.ts";
import { secondMs } from "../durations.ts";
import type { Services } from "../runtime/services.ts";
import type { Application } from "./application-store.ts";
import { deleteGrant, findRefreshToken, lockGrant, rotateIfCurrent } from "./grant-store.ts";
import { auditGrant, type IssuedTokens, issueTokens } from "./grants.ts";
import { OAuthRefusal } from "./refusals.ts";

/**
 * The states of a refresh token, and the answer to its client:
 *
 * | state    | presented               | next    | answer                        |
 * | current  | before it expires       | rotated | new tokens                    |
 * | rotated  | up to 30 s later        | rotated | new tokens (parallel clients) |
 * | rotated  | later: one was stolen   | deleted | invalid_grant, grant revoked  |
 * | expired, deleted | any time        | same    | invalid_grant                 |
 */
const parallelUseMs = 30 * secondMs;

/**
 * Exchanges a refresh token for new tokens (RFC 6749 §6, RFC 9700 §4.14).
 * @param requested narrows the scopes
 * @throws OAuthRefusal
 */
export async function refreshTokens(
  services: Services,
  application: Application,
  refreshToken: string,
  requested: string[] | undefined,
): Promise<IssuedTokens> {
  if (!application.refreshTokens) throw new OAuthRefusal("refresh_off");
  if (!isWellFormedToken("refresh", refreshToken)) throw new OAuthRefusal("bad_refresh_token");

  const now = services.clock.now();
  const issued = await services.db.transaction((tx) =>
    exchange(tx, { application, tokenHash: hashToken(refreshToken), requested, now }),
  );
  if (!issued) throw new OAuthRefusal("bad_refresh_token");
  return issued;
}

/** Undefined: the request is refused, but the transaction must commit. */
async function exchange(
  tx: Tx,
  request: { application: Application; tokenHash: string; requested: string[] | undefined; now: Date },
): Promise<IssuedTokens | undefined> {
  const { application, tokenHash, requested, now } = request;
  const unlocked = await findRefreshToken(tx, tokenHash);
  const grant = unlocked && (await lockGrant(tx, unlocked.grantId));
  if (!grant || grant.applicationId !== application.id) return undefined;
  const token = await findRefreshToken(tx, tokenHash); // again, now locked
  if (!token) return undefined;

  if (token.rotatedAt && now.getTime() - token.rotatedAt.getTime() > parallelUseMs) {
    await deleteGrant(tx, grant.id);
    await auditGrant(tx, grant, application, "revoked after reuse of a refresh token");
    return undefined;
  }
  if (token.expiresAt <= now) return undefined;

  if (requested?.length === 0) throw new OAuthRefusal("missing_scope");
  if (requested?.some((scope) => !grant.scopes.includes(scope))) throw new OAuthRefusal("wider_scope");
  const role = await lockActiveRole(tx, grant.organizationId, grant.userId);
  const scopes = role ? grantableScopes(requested ?? grant.scopes, role) : [];
  if (scopes.length === 0) return undefined;
  await rotateIfCurrent(tx, tokenHash, now);
  return (await issueTokens(tx, [{ application, grant, scopes }], now))[0];
}
