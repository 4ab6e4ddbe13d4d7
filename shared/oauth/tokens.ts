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

/** RFC 7009. A refresh token ends its whole grant. Ignores other clients' tokens. */
export async function revokeToken(
  services: Services,
  application: Application,
  token: string,
): Promise<void> {
  if (isWellFormedToken("refresh", token)) return revokeByRefreshToken(services, application, token);
  const holder = await findHolder(services, application, token);
  if (!holder) return;
  await services.db.transaction((tx) => revokeAccessTokenIfActive(tx, holder.token.id, tx.now));
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

async function findHolder({ db, clock }: Services, application: Application, token: string) {
  if (!isWellFormedToken("access", token)) return undefined;
  const holder = await findTokenHolder(db, hashToken(token), clock.now());
  return holder?.applicationId === application.id ? holder : undefined;
}
