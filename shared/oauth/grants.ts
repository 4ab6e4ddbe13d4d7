import { type AccessToken, insertAccessTokens } from "../accounts/access-token-store.ts";
import { auditAll } from "../accounts/audit.ts";
import { hashToken, issueToken } from "../crypto/tokens.ts";
import type { CursorPage } from "../db/cursor-page.ts";
import type { Tx } from "../db/database.ts";
import { dayMs, minuteMs, secondMs } from "../durations.ts";
import { newId } from "../ids.ts";
import { notFound } from "../refusal.ts";
import type { Services } from "../services/services.ts";
import type { Application } from "./application-store.ts";
import {
  deleteGrantsOfUser,
  findGrant,
  type Grant,
  type GrantDetails,
  insertGrants,
  insertRefreshTokens,
  listAccessExpiries,
  listApplicationNames,
  listGrants,
  listRefreshExpiries,
  type RefreshToken,
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

/** A user's approval of an application. */
export type Approval = Pick<
  Grant,
  "userId" | "organizationId" | "scopes" | "approvedUserAgent" | "approvedIp"
> & { application: Application };

/** Call in the transaction that redeems the approvals. Returns the tokens of each, in order. */
export async function createGrants(tx: Tx, approvals: Approval[], now: Date): Promise<IssuedTokens[]> {
  const issues = approvals.map(({ application, ...approval }): Issue => {
    const unused = { createdAt: now, lastUsedAt: null, lastUserAgent: null, lastIp: null };
    const grant = { ...approval, ...unused, id: newId(now), applicationId: application.id };
    return { application, grant, scopes: grant.scopes };
  });
  await insertGrants(
    tx,
    issues.map(({ grant }) => grant),
  );
  await auditAll(
    tx,
    "authorized",
    issues.map(({ grant, application }) => auditedGrant(grant, application)),
  );
  return issueTokens(tx, issues, now);
}

interface Issue {
  application: Application;
  grant: Grant;
  scopes: string[];
}

/** Issues access tokens, and refresh tokens for applications that use them. */
export async function issueTokens(tx: Tx, issues: Issue[], now: Date): Promise<IssuedTokens[]> {
  const accessTokens: AccessToken[] = [];
  const refreshTokens: RefreshToken[] = [];
  const issued = issues.map((issue): IssuedTokens => {
    const { accessTokenMinutes: minutes, refreshTokens: usesRefreshTokens } = issue.application;
    const accessToken = issueToken("access");
    accessTokens.push(newAccessToken(issue, accessToken, now));
    const refreshToken = usesRefreshTokens ? issueToken("refresh") : undefined;
    if (refreshToken) refreshTokens.push(newRefreshToken(issue, refreshToken, now));
    const expiresInSeconds = minutes === null ? undefined : (minutes * minuteMs) / secondMs;
    return { accessToken, expiresInSeconds, refreshToken, scopes: issue.scopes };
  });
  await insertAccessTokens(tx, accessTokens);
  await insertRefreshTokens(tx, refreshTokens);
  return issued;
}

function newAccessToken({ application, grant, scopes }: Issue, token: string, now: Date): AccessToken {
  const { accessTokenMinutes: minutes } = application;
  return {
    id: newId(now),
    tokenHash: hashToken(token),
    userId: grant.userId,
    organizationId: grant.organizationId,
    scopes,
    description: application.name,
    createdAt: now,
    expiresAt: minutes === null ? null : new Date(now.getTime() + minutes * minuteMs),
    revokedAt: null,
    grantId: grant.id,
    lastUsedAt: null,
  };
}

function newRefreshToken({ grant }: Issue, token: string, now: Date): RefreshToken {
  return {
    tokenHash: hashToken(token),
    grantId: grant.id,
    createdAt: now,
    expiresAt: new Date(now.getTime() + refreshTokenMs),
    rotatedAt: null,
  };
}

/** A grant on the page Connected Apps. */
export interface ConnectedApp extends GrantDetails {
  /** The end of access; past if it has ended. */
  expiresAt: Date | "never";
}

/** A page of a user's grants, newest first, and one more if there is one. */
export async function listConnectedApps(
  services: Services,
  userId: string,
  page: CursorPage = { limit: 100 },
): Promise<ConnectedApp[]> {
  return withExpiries(services, await listGrants(services.db, userId, page));
}

async function withExpiries({ db, clock }: Services, details: GrantDetails[]): Promise<ConnectedApp[]> {
  const ids = details.map(({ grant }) => grant.id);
  const [refresh, access] = await Promise.all([
    listRefreshExpiries(db, ids),
    listAccessExpiries(db, ids, clock.now()),
  ]);
  const refreshByGrant = new Map(refresh.map((each) => [each.grantId, each.expiresAt]));
  const accessByGrant = new Map(access.map((each) => [each.grantId, each]));
  return details.map((each) => {
    const { id } = each.grant;
    return { ...each, expiresAt: expiryOf(each.grant, refreshByGrant.get(id), accessByGrant.get(id)) };
  });
}

function expiryOf(
  grant: Grant,
  refreshExpiresAt: Date | null | undefined,
  access: { expiresAt: Date | null; lasting: number } | undefined,
): Date | "never" {
  if (refreshExpiresAt) return refreshExpiresAt;
  if (access && access.lasting > 0) return "never";
  // Without an active token the end is unknown: the creation is at least past.
  return new Date(Math.max(grant.createdAt.getTime(), Number(access?.expiresAt ?? 0)));
}

/** @throws Refusal 404, also for another user's */
export async function requireConnectedApp(
  services: Services,
  userId: string,
  grantId: string,
): Promise<ConnectedApp> {
  const details = await findGrant(services.db, userId, grantId);
  const [found] = details ? await withExpiries(services, [details]) : [];
  if (!found) throw notFound("authorized application");
  return found;
}

/** Revokes one grant of a user, or all of an application. A missing grant is not an error. */
export async function revokeGrants(
  services: Services,
  userId: string,
  which: { id: string } | { applicationId: string },
): Promise<void> {
  await services.db.transaction(async (tx) => {
    const deleted = await deleteGrantsOfUser(tx, { userId, ...which });
    const ids = [...new Set(deleted.map(({ applicationId }) => applicationId))];
    const names = await listApplicationNames(tx, ids);
    const audited = deleted.map((grant) =>
      auditedGrant(grant, { name: names.get(grant.applicationId) ?? "" }),
    );
    await auditAll(tx, "revoked", audited);
  });
}

/** Writes an audit entry about a grant, as its user. */
export function auditGrant(
  tx: Tx,
  grant: Grant,
  application: Pick<Application, "name">,
  action: string,
): Promise<void> {
  return auditAll(tx, action, [auditedGrant(grant, application)]);
}

function auditedGrant({ id, organizationId, userId }: Grant, { name }: Pick<Application, "name">) {
  const actor = { organization: { id: organizationId }, userId };
  return { actor, subject: { type: "grant" as const, id, name } };
}
