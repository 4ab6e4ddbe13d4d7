import {
  findTokenHolder,
  revokeAccessTokenIfActive,
  type TokenHolder,
} from "../accounts/access-token-store.ts";
import { grantableScopes } from "../accounts/scopes.ts";
import { hashToken, isWellFormedToken } from "../crypto/tokens.ts";
import type { Services } from "../runtime/services.ts";
import type { Application } from "./application-store.ts";
import { deleteGrant, findGrantHolder, findRefreshToken, lockGrant } from "./grant-store.ts";
import { auditGrant } from "./grants.ts";

/**
 * RFC 7009. A refresh token ends its grant with every token of it, an access token only itself. Unknown tokens
 * and those of other clients are left alone, without a word.
 */
export async function revokeToken(
  services: Services,
  application: Application,
  token: string,
): Promise<void> {
  if (isWellFormedToken("refresh", token)) return revokeByRefreshToken(services, application, token);
  const held = await findOwnAccessToken(services, application, token);
  if (!held) return;
  const now = services.clock.now();
  await services.db.transaction((tx) => revokeAccessTokenIfActive(tx, held.token.id, now));
}

async function revokeByRefreshToken({ db }: Services, application: Application, token: string) {
  await db.transaction(async (tx) => {
    const known = await findRefreshToken(tx, hashToken(token));
    const grant = known && (await lockGrant(tx, known.grantId));
    if (grant?.applicationId !== application.id) return;
    await deleteGrant(tx, grant.id);
    await auditGrant(tx, grant, application, "revoked");
  });
}

/** What RFC 7662 tells of a token that works. */
export interface ActiveToken {
  kind: "access" | "refresh";
  scopes: string[];
  user: TokenHolder["user"];
  issuedAt: Date;
  expiresAt: Date | null;
}

/** Undefined for a token that does not work, and for one of another client. */
export async function inspectToken(
  services: Services,
  application: Application,
  token: string,
): Promise<ActiveToken | undefined> {
  if (isWellFormedToken("refresh", token)) return inspectRefreshToken(services, application, token);
  const held = await findOwnAccessToken(services, application, token);
  if (!held) return undefined;
  const { createdAt, expiresAt } = held.token;
  const scopes = grantableScopes(held.token.scopes, held.role); // the role may have changed since
  return { kind: "access", scopes, user: held.user, issuedAt: createdAt, expiresAt };
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

async function findOwnAccessToken({ db, clock }: Services, application: Application, token: string) {
  if (!isWellFormedToken("access", token)) return undefined;
  const held = await findTokenHolder(db, hashToken(token), clock.now());
  return held?.applicationId === application.id ? held : undefined;
}
