import { lockActiveRole } from "../accounts/member-store.ts";
import { grantableScopes } from "../accounts/scopes.ts";
import { hashToken, isWellFormedToken } from "../crypto/tokens.ts";
import type { Tx } from "../db/database.ts";
import type { Services } from "../runtime/services.ts";
import type { Application } from "./application-store.ts";
import { deleteGrant, findRefreshToken, lockGrant, rotateIfCurrent } from "./grant-store.ts";
import { auditGrant, type IssuedTokens, issueTokens } from "./grants.ts";
import { OAuthRefusal } from "./refusals.ts";

/**
 * A refresh token, from the point of view of whoever presents it:
 *
 * | state    | presented                                 | next    | answer                       |
 * | current  |                                           | rotated | a new pair                   |
 * | rotated  | within 30 s: clients that run in parallel | rotated | another new pair             |
 * | rotated  | later: one of the two holders is a thief  | gone    | invalid_grant, grant revoked |
 * | expired, gone |                                      | same    | invalid_grant                |
 */
const parallelUseMs = 30_000;

/**
 * Exchange a refresh token for a new access token and the next refresh token (RFC 6749 §6, RFC 9700 §4.14).
 * @param requested scopes to narrow to; undefined: all that were granted
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

/** Undefined, and not an error, where the transaction must stand though the answer is a refusal. */
async function exchange(
  tx: Tx,
  given: { application: Application; tokenHash: string; requested: string[] | undefined; now: Date },
): Promise<IssuedTokens | undefined> {
  const { application, tokenHash, requested, now } = given;
  const known = await findRefreshToken(tx, tokenHash);
  const grant = known && (await lockGrant(tx, known.grantId));
  if (!grant || grant.applicationId !== application.id) return undefined;
  // Once more, now that nobody else can rotate it.
  const token = await findRefreshToken(tx, tokenHash);
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
  return issueTokens(tx, { application, grant, scopes, now });
}
