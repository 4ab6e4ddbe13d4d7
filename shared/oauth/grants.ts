import { insertAccessToken } from "../accounts/access-token-store.ts";
import { audit } from "../accounts/audit.ts";
import { hashToken, issueToken } from "../crypto/tokens.ts";
import type { Tx } from "../db/database.ts";
import { newId } from "../ids.ts";
import { notFound } from "../refusal.ts";
import type { Services } from "../runtime/services.ts";
import type { Application } from "./application-store.ts";
import {
  deleteGrantsOfUser,
  type Grant,
  type GrantDetails,
  insertGrant,
  insertRefreshToken,
  listGrants,
  listGrantTokens,
  listRefreshExpiries,
} from "./grant-store.ts";

const minuteMs = 60_000;
/** A refresh token that is not used for so long dies. */
const refreshTokenMs = 30 * 24 * 60 * minuteMs;

/** What a client receives (spec §2.2), in clear this once. */
export interface IssuedTokens {
  accessToken: string;
  /** Undefined: it does not expire. */
  expiresInSeconds: number | undefined;
  /** Undefined: the application has no refresh tokens. */
  refreshToken: string | undefined;
  scopes: string[];
}

/** A new grant and its first tokens, in the transaction that makes it: an approval is redeemed once. */
export async function createGrant(
  tx: Tx,
  application: Application,
  approval: Omit<Grant, "id" | "applicationId" | "createdAt" | "lastUsedAt" | "lastUserAgent" | "lastIp">,
  now: Date,
): Promise<IssuedTokens> {
  const grant: Grant = {
    ...approval,
    id: newId(now),
    applicationId: application.id,
    createdAt: now,
    lastUsedAt: null,
    lastUserAgent: null,
    lastIp: null,
  };
  await insertGrant(tx, grant);
  await auditGrant(tx, grant, application, "authorized");
  return issueTokens(tx, { application, grant, scopes: grant.scopes, now });
}

/** An access token, and a refresh token where the application has them. */
export async function issueTokens(
  tx: Tx,
  of: { application: Application; grant: Grant; scopes: string[]; now: Date },
): Promise<IssuedTokens> {
  const { application, grant, scopes, now } = of;
  const lifetimeMs =
    application.accessTokenMinutes === null ? null : application.accessTokenMinutes * minuteMs;
  const accessToken = issueToken("access");
  await insertAccessToken(tx, {
    id: newId(now),
    tokenHash: hashToken(accessToken),
    userId: grant.userId,
    organizationId: grant.organizationId,
    scopes,
    description: application.name,
    createdAt: now,
    expiresAt: lifetimeMs === null ? null : new Date(now.getTime() + lifetimeMs),
    revokedAt: null,
    grantId: grant.id,
    lastUsedAt: null,
  });

  const refreshToken = application.refreshTokens ? issueToken("refresh") : undefined;
  if (refreshToken !== undefined) {
    await insertRefreshToken(tx, {
      tokenHash: hashToken(refreshToken),
      grantId: grant.id,
      createdAt: now,
      expiresAt: new Date(now.getTime() + refreshTokenMs),
      rotatedAt: null,
    });
  }
  return {
    accessToken,
    expiresInSeconds: lifetimeMs === null ? undefined : lifetimeMs / 1000,
    refreshToken,
    scopes,
  };
}

/** A grant as its user sees it under Connected Apps. */
export interface ConnectedApp extends GrantDetails {
  /** When its access ends: `never`; or a time, past when nothing of it works any more. */
  expiresAt: Date | "never";
}

/** What a user has authorized, the newest first. */
export async function listConnectedApps({ db, clock }: Services, userId: string): Promise<ConnectedApp[]> {
  const now = clock.now();
  const [details, refreshExpiries, tokens] = await Promise.all([
    listGrants(db, userId),
    listRefreshExpiries(db, userId),
    listGrantTokens(db, userId, now),
  ]);
  const refreshExpiryOf = new Map(refreshExpiries.map((each) => [each.grantId, each.expiresAt]));
  return details.map((each) => {
    const ofGrant = tokens.filter(({ grantId }) => grantId === each.grant.id);
    return { ...each, expiresAt: expiryOf(each.grant, refreshExpiryOf.get(each.grant.id), ofGrant) };
  });
}

/** The refresh token's expiry where there is one, else the access token's. */
function expiryOf(
  grant: Grant,
  refreshExpiresAt: Date | null | undefined,
  tokens: { expiresAt: Date | null }[],
): Date | "never" {
  if (refreshExpiresAt) return refreshExpiresAt;
  if (tokens.some(({ expiresAt }) => expiresAt === null)) return "never";
  // Without a working token the access has ended already, we no longer know when.
  return new Date(Math.max(grant.createdAt.getTime(), ...tokens.map(({ expiresAt }) => Number(expiresAt))));
}

/** @throws Refusal 404: unknown, or another user's */
export async function requireConnectedApp(
  services: Services,
  userId: string,
  grantId: string,
): Promise<ConnectedApp> {
  const found = (await listConnectedApps(services, userId)).find(({ grant }) => grant.id === grantId);
  if (!found) throw notFound("authorized application");
  return found;
}

/**
 * End a grant of the user, or all that one application has of the user, with every token of it, from the very
 * next request on. What is gone already is no error.
 */
export async function revokeGrants(
  services: Services,
  userId: string,
  which: { id: string } | { applicationId: string },
): Promise<void> {
  await services.db.transaction(async (tx) => {
    const all = await listGrants(tx, userId);
    const gone = new Set((await deleteGrantsOfUser(tx, { userId, ...which })).map(({ id }) => id));
    for (const { grant, application } of all) {
      if (gone.has(grant.id)) await auditGrant(tx, grant, application, "revoked");
    }
  });
}

/** Records what the holder of a grant did to it. */
export function auditGrant(
  tx: Tx,
  grant: Grant,
  application: Pick<Application, "name">,
  action: string,
): Promise<void> {
  const actor = { organization: { id: grant.organizationId }, userId: grant.userId };
  return audit(tx, actor, action, { type: "grant", id: grant.id, name: application.name });
}
