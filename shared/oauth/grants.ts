import { insertAccessToken } from "../accounts/access-token-store.ts";
import { audit } from "../accounts/audit.ts";
import { hashToken, issueToken } from "../crypto/tokens.ts";
import type { Tx } from "../db/database.ts";
import { dayMs, minuteMs, secondMs } from "../durations.ts";
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

/** Lifetime of an unused refresh token. */
const refreshTokenMs = 30 * dayMs;

/** Tokens for a client, in clear: only hashes are stored. */
export interface IssuedTokens {
  accessToken: string;
  /** Undefined: never. */
  expiresInSeconds: number | undefined;
  refreshToken: string | undefined;
  scopes: string[];
}

/** Call in the transaction that redeems the approval. */
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

interface Issue {
  application: Application;
  grant: Grant;
  scopes: string[];
  now: Date;
}

/** Issues an access token, and a refresh token if the application uses them. */
export async function issueTokens(tx: Tx, issue: Issue): Promise<IssuedTokens> {
  const { refreshTokens, accessTokenMinutes } = issue.application;
  const lifetimeMs = accessTokenMinutes === null ? undefined : accessTokenMinutes * minuteMs;
  return {
    accessToken: await issueAccessToken(tx, issue, lifetimeMs),
    expiresInSeconds: lifetimeMs === undefined ? undefined : lifetimeMs / secondMs,
    refreshToken: refreshTokens ? await issueRefreshToken(tx, issue) : undefined,
    scopes: issue.scopes,
  };
}

async function issueAccessToken(
  tx: Tx,
  { application, grant, scopes, now }: Issue,
  lifetimeMs: number | undefined,
): Promise<string> {
  const token = issueToken("access");
  await insertAccessToken(tx, {
    id: newId(now),
    tokenHash: hashToken(token),
    userId: grant.userId,
    organizationId: grant.organizationId,
    scopes,
    description: application.name,
    createdAt: now,
    expiresAt: lifetimeMs === undefined ? null : new Date(now.getTime() + lifetimeMs),
    revokedAt: null,
    grantId: grant.id,
    lastUsedAt: null,
  });
  return token;
}

async function issueRefreshToken(tx: Tx, { grant, now }: Issue): Promise<string> {
  const token = issueToken("refresh");
  await insertRefreshToken(tx, {
    tokenHash: hashToken(token),
    grantId: grant.id,
    createdAt: now,
    expiresAt: new Date(now.getTime() + refreshTokenMs),
    rotatedAt: null,
  });
  return token;
}

/** A grant on the page Connected Apps. */
export interface ConnectedApp extends GrantDetails {
  /** The end of access; past if it has ended. */
  expiresAt: Date | "never";
}

/** Returns a user's grants, newest first. */
export async function listConnectedApps({ db, clock }: Services, userId: string): Promise<ConnectedApp[]> {
  const now = clock.now();
  const [details, refreshExpiries, tokens] = await Promise.all([
    listGrants(db, userId),
    listRefreshExpiries(db, userId),
    listGrantTokens(db, userId, now),
  ]);
  const expiryByGrant = new Map(refreshExpiries.map((each) => [each.grantId, each.expiresAt]));
  return details.map((each) => {
    const tokensOfGrant = tokens.filter(({ grantId }) => grantId === each.grant.id);
    return { ...each, expiresAt: expiryOf(each.grant, expiryByGrant.get(each.grant.id), tokensOfGrant) };
  });
}

function expiryOf(
  grant: Grant,
  refreshExpiresAt: Date | null | undefined,
  tokens: { expiresAt: Date | null }[],
): Date | "never" {
  if (refreshExpiresAt) return refreshExpiresAt;
  if (tokens.some(({ expiresAt }) => expiresAt === null)) return "never";
  // Without an active token the time is unknown: the creation is at least past.
  return new Date(Math.max(grant.createdAt.getTime(), ...tokens.map(({ expiresAt }) => Number(expiresAt))));
}

/** @throws Refusal 404, also for another user's */
export async function requireConnectedApp(
  services: Services,
  userId: string,
  grantId: string,
): Promise<ConnectedApp> {
  const found = (await listConnectedApps(services, userId)).find(({ grant }) => grant.id === grantId);
  if (!found) throw notFound("authorized application");
  return found;
}

/** Revokes one grant of a user, or all of an application. A missing grant is no error. */
export async function revokeGrants(
  services: Services,
  userId: string,
  which: { id: string } | { applicationId: string },
): Promise<void> {
  await services.db.transaction(async (tx) => {
    const all = await listGrants(tx, userId);
    const deleted = new Set((await deleteGrantsOfUser(tx, { userId, ...which })).map(({ id }) => id));
    for (const { grant, application } of all) {
      if (deleted.has(grant.id)) await auditGrant(tx, grant, application, "revoked");
    }
  });
}

/** Writes an audit entry about a grant, as its user. */
export function auditGrant(
  tx: Tx,
  grant: Grant,
  application: Pick<Application, "name">,
  action: string,
): Promise<void> {
  const user = { organization: { id: grant.organizationId }, userId: grant.userId };
  return audit(tx, user, action, { type: "grant", id: grant.id, name: application.name });
}
