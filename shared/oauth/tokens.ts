import {
  type AccessToken,
  findTokenHolder,
  revokeAccessTokenIfActive,
  type TokenHolder,
} from "../accounts/access-token-store.ts";
import { revokeAccessToken } from "../accounts/access-tokens.ts";
import { grantableScopes } from "../accounts/scopes.ts";
import { hashToken, isWellFormedToken } from "../crypto/tokens.ts";
import type { Tx } from "../db/database.ts";
import type { Services } from "../services/services.ts";
import type { Application } from "./application-store.ts";
import {
  deleteGrant,
  findGrantHolder,
  findRefreshToken,
  findRefreshTokenOf,
  hasActiveTokens,
  lockGrant,
} from "./grant-store.ts";
import { auditGrant, revokeGrants } from "./grants.ts";
import { OAuthRefusal } from "./refusals.ts";

/**
 * RFC 7009. A refresh token or the last token ends the whole grant.
 * @throws OAuthRefusal 400 for a token that was not issued to the client (§2.1)
 */
export async function revokeToken(
  services: Services,
  application: Application,
  token: string,
): Promise<void> {
  if (isWellFormedToken("refresh", token)) return revokeByRefreshToken(services, application, token);
  const holder = await findActive(services, token);
  if (!holder) return;
  if (holder.applicationId !== application.id) throw new OAuthRefusal("other_client");
  await services.db.transaction((tx) => revokeAccessTokenOfGrant(tx, holder.token, application));
}

/**
 * Revokes a token at its own request. A grant ends with its token: it leaves the page Connected Apps.
 * @throws Refusal 404 if not active
 */
export async function revokeOwnToken(
  services: Services,
  { id, userId, grantId }: AccessToken,
): Promise<void> {
  if (grantId === null) await revokeAccessToken(services, id);
  else await revokeGrants(services, userId, { id: grantId });
}

/** Other tokens of the grant stay. A grant without tokens ends. */
async function revokeAccessTokenOfGrant(tx: Tx, { id, grantId }: AccessToken, application: Application) {
  const grant = grantId && (await lockGrant(tx, grantId));
  await revokeAccessTokenIfActive(tx, id, tx.now);
  if (!grant || (await hasActiveTokens(tx, grant.id, tx.now))) return;
  await deleteGrant(tx, grant.id);
  await auditGrant(tx, grant, application, "revoked");
}

async function revokeByRefreshToken({ db }: Services, application: Application, token: string) {
  // Without a transaction: anybody can send unknown ones.
  const known = await findRefreshTokenOf(db, application, hashToken(token));
  if (!known && (await findRefreshToken(db, hashToken(token)))) throw new OAuthRefusal("other_client");
  if (!known) return;
  await db.transaction(async (tx) => {
    const grant = await lockGrant(tx, known.grantId);
    if (!grant) return;
    await deleteGrant(tx, grant.id);
    await auditGrant(tx, grant, application, "revoked");
  });
}

/** An active token, for introspection (RFC 7662). */
export interface ActiveToken {
  kind: "access" | "refresh";
  scopes: string[];
  user: TokenHolder["user"];
  issuedAt: Date;
  expiresAt: Date | null;
}

/** Undefined also for another client's token. */
export async function inspectToken(
  services: Services,
  application: Application,
  token: string,
): Promise<ActiveToken | undefined> {
  if (isWellFormedToken("refresh", token)) return inspectRefreshToken(services, application, token);
  const holder = await findHolder(services, application, token);
  if (!holder) return undefined;
  const { createdAt, expiresAt } = holder.token;
  const scopes = grantableScopes(holder.token.scopes, holder.role); // the role may have changed since
  return { kind: "access", scopes, user: holder.user, issuedAt: createdAt, expiresAt };
}

async function inspectRefreshToken(
  { db, clock }: Services,
  application: Application,
  token: string,
): Promise<ActiveToken | undefined> {
  const found = await findRefreshToken(db, hashToken(token));
  if (!found || found.rotatedAt || found.expiresAt <= clock.now()) return undefined;
  const holder = await findGrantHolder(db, found.grantId);
  if (holder?.grant.applicationId !== application.id) return undefined;
  const { createdAt, expiresAt } = found;
  return {
    kind: "refresh",
    scopes: holder.grant.scopes,
    user: holder.user,
    issuedAt: createdAt,
    expiresAt,
  };
}

async function findHolder(services: Services, application: Application, token: string) {
  const holder = await findActive(services, token);
  return holder?.applicationId === application.id ? holder : undefined;
}

async function findActive({ db, clock }: Services, token: string) {
  if (!isWellFormedToken("access", token)) return undefined;
  return findTokenHolder(db, hashToken(token), clock.now());
}
