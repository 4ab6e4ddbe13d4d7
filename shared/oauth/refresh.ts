import { lockActiveRole } from "../accounts/member-store.ts";
import { grantableScopes } from "../accounts/scopes.ts";
import { hashToken, isWellFormedToken } from "../crypto/tokens.ts";
import type { Tx } from "../db/database.ts";
import { secondMs } from "../durations.ts";
import type { Services } from "../services/services.ts";
import { stored } from "../sharing/bounds.ts";
import type { Application } from "./application-store.ts";
import {
  deleteGrant,
  deleteOldestCurrent,
  findRefreshToken,
  findRefreshTokenOf,
  lockGrant,
  type RefreshToken,
  rotateIfCurrent,
} from "./grant-store.ts";
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
 *
 * A grant has at most `maxCurrentTokens` current ones: the oldest is deleted.
 */
const parallelUseMs = 30 * secondMs;

/** One more deletes the oldest: parallel clients keep only some of theirs. */
export const { "unused refresh tokens": maxCurrentTokens } = stored.refreshTokens.max;

/** A refresh token that a client presents. */
export interface PresentedToken {
  tokenHash: string;
  grantId: string;
  /** Its exchange will revoke the grant. */
  isReused: boolean;
}

/**
 * Finds a refresh token without a transaction: anybody can send unknown ones.
 * @throws OAuthRefusal also for another application's
 */
export async function requireRefreshToken(
  { db, clock }: Services,
  application: Application,
  refreshToken: string,
): Promise<PresentedToken> {
  if (!application.refreshTokens) throw new OAuthRefusal("refresh_off");
  if (!isWellFormedToken("refresh", refreshToken)) throw new OAuthRefusal("bad_refresh_token");
  const token = await findRefreshTokenOf(db, application, hashToken(refreshToken));
  if (!token) throw new OAuthRefusal("bad_refresh_token");
  return { ...token, isReused: isReused(token, clock.now()) };
}

/**
 * Exchanges a refresh token for new tokens (RFC 6749 §6, RFC 9700 §4.14).
 * @param requested narrows the scopes
 * @throws OAuthRefusal
 */
export async function refreshTokens(
  services: Services,
  application: Application,
  presented: PresentedToken,
  requested: string[] | undefined,
): Promise<IssuedTokens> {
  const now = services.clock.now();
  const issued = await services.db.transaction((tx) =>
    exchange(tx, { application, presented, requested, now }),
  );
  if (!issued) throw new OAuthRefusal("bad_refresh_token");
  return issued;
}

function isReused({ rotatedAt }: RefreshToken, now: Date): boolean {
  return rotatedAt !== null && now.getTime() - rotatedAt.getTime() > parallelUseMs;
}

/** Undefined: the request is refused, but the transaction must commit. */
async function exchange(
  tx: Tx,
  request: {
    application: Application;
    presented: PresentedToken;
    requested: string[] | undefined;
    now: Date;
  },
): Promise<IssuedTokens | undefined> {
  const { application, presented, requested, now } = request;
  const grant = await lockGrant(tx, presented.grantId);
  const token = grant && (await findRefreshToken(tx, presented.tokenHash)); // again, now locked
  if (!token) return undefined;

  if (isReused(token, now)) {
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
  await rotateIfCurrent(tx, token.tokenHash, now);
  await deleteOldestCurrent(tx, grant.id, maxCurrentTokens - 1);
  return (await issueTokens(tx, [{ application, grant, scopes }], now))[0];
}
