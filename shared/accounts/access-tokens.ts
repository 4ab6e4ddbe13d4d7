import { hashToken, issueToken, isWellFormedToken } from "../crypto/tokens.ts";
import type { Tx } from "../db/database.ts";
import { hourMs } from "../durations.ts";
import { newId } from "../ids.ts";
import { Refusal, unprocessable, validationFailed } from "../refusal.ts";
import type { Services } from "../services/services.ts";
import { stored } from "../sharing/bounds.ts";
import { roomProblems } from "../sharing/room.ts";
import { problemsOf, text } from "../validation.ts";
import {
  type AccessToken,
  countOwnAccessTokens,
  findAccessToken,
  findTokenHolder,
  insertAccessTokens,
  recordUseIfLater,
  revokeAccessTokenIfActive,
  type TokenHolder,
} from "./access-token-store.ts";
import { type AuditSubject, audit } from "./audit.ts";
import { lockActiveRole } from "./member-store.ts";
import { auditAsOperator, maxNameLength, nameProblems, requireOrganization } from "./organizations.ts";
import { grantableScopes, isScope } from "./scopes.ts";
import { requireUser } from "./users.ts";

const description = text("Description", maxNameLength);

interface NewAccessToken {
  scopes: string[];
  description: string;
  /** Default: never. */
  expiresInHours?: number | undefined;
}

/**
 * Acts as the operator.
 * @returns the token's text too
 * @throws Refusal 404, 422
 */
export async function createAccessToken(
  services: Services,
  input: NewAccessToken & { email: string; organization: string },
): Promise<{ token: string; accessToken: AccessToken }> {
  const scopes = requireKnownScopes(input.scopes);
  const problems = problemsOf(description, input.description, "description");
  if (problems.length > 0) throw validationFailed(...problems);
  return services.db.transaction(async (tx) => {
    const { id: organizationId } = await requireOrganization(tx, input.organization);
    const { id: userId } = await requireUser(tx, input.email);
    if (!(await lockActiveRole(tx, organizationId, userId)))
      throw validationFailed({ field: "email", message: "User is not an active member of the organization" });
    await requireRoom(services, tx, { organizationId, userId });
    const created = newAccessToken({ ...input, scopes, userId, organizationId, now: services.clock.now() });
    await insertAccessTokens(tx, [created.accessToken]);
    await auditAsOperator(tx, organizationId, "created", subjectOf(created.accessToken));
    return created;
  });
}

/**
 * @param input.id the form's: a form sent twice creates one token
 * @returns the token's text; undefined if the form was sent before
 * @throws Refusal 422
 */
export async function createOwnAccessToken(
  services: Services,
  userId: string,
  input: NewAccessToken & { id: string; organizationId: string },
): Promise<string | undefined> {
  const scopes = requireKnownScopes(input.scopes);
  const problems = nameProblems(input.description, "description");
  if (problems.length > 0) throw validationFailed(...problems);

  return services.db.transaction(async (tx) => {
    const role = await lockActiveRole(tx, input.organizationId, userId);
    if (!role)
      throw validationFailed({ field: "organization", message: "You are not a member of that organization" });
    if (await findAccessToken(tx, input.id)) return undefined; // after the lock: a double click sends two at once
    const grantable = grantableScopes(scopes, role);
    const refused = scopes.filter((scope) => !grantable.includes(scope));
    if (refused.length > 0) throw scopesRefused(refused, "needs an admin of the organization");

    await requireRoom(services, tx, { organizationId: input.organizationId, userId });
    const { token, accessToken } = newAccessToken({ ...input, scopes, userId, now: services.clock.now() });
    await insertAccessTokens(tx, [accessToken]);
    await auditAsOwner(tx, accessToken, "created");
    return token;
  });
}

/** Call with the membership locked. @throws Refusal 422 */
async function requireRoom(
  { config }: Services,
  tx: Tx,
  member: { organizationId: string; userId: string },
): Promise<void> {
  const countUpTo = (limit: number) => countOwnAccessTokens(tx, member, limit);
  const full = await roomProblems(config, stored.accessTokens, countUpTo);
  if (full.length > 0) throw unprocessable(...full);
}

function requireKnownScopes(given: string[]): string[] {
  const scopes = [...new Set(given)];
  if (scopes.length === 0) throw validationFailed({ field: "scopes", message: "Scopes can't be blank" });
  const unknown = scopes.filter((scope) => !isScope(scope));
  if (unknown.length > 0) throw scopesRefused(unknown, "is not a known scope");
  return scopes;
}

function scopesRefused(scopes: string[], reason: string): Refusal {
  return validationFailed(
    ...scopes.map((scope) => ({ field: "scopes", message: `Scope ${scope} ${reason}` })),
  );
}

function newAccessToken(
  input: NewAccessToken & { id?: string; userId: string; organizationId: string; now: Date },
): { token: string; accessToken: AccessToken } {
  const { userId, organizationId, scopes, description, expiresInHours, now } = input;
  const token = issueToken("access");
  const accessToken: AccessToken = {
    id: input.id ?? newId(now),
    tokenHash: hashToken(token),
    userId,
    organizationId,
    scopes,
    description,
    createdAt: now,
    expiresAt: expiresInHours ? new Date(now.getTime() + expiresInHours * hourMs) : null,
    revokedAt: null,
    grantId: null,
    lastUsedAt: null,
  };
  return { token, accessToken };
}

/**
 * @param ownerId revoke only if this user made the token
 * @throws Refusal 404 if not active
 */
export async function revokeAccessToken(
  services: Services,
  id: string,
  ownerId?: string,
): Promise<AccessToken> {
  return services.db.transaction(async (tx) => {
    const revoked = await revoke(tx, id, ownerId);
    await auditAsOwner(tx, revoked, "revoked");
    return revoked;
  });
}

/** @throws Refusal 404 if not active */
export async function revokeAccessTokenAsOperator(services: Services, id: string): Promise<AccessToken> {
  return services.db.transaction(async (tx) => {
    const revoked = await revoke(tx, id);
    await auditAsOperator(tx, revoked.organizationId, "revoked", subjectOf(revoked));
    return revoked;
  });
}

async function revoke(tx: Tx, id: string, ownerId?: string): Promise<AccessToken> {
  const revoked = await revokeAccessTokenIfActive(tx, id, tx.now, ownerId);
  if (!revoked) throw new Refusal(404, "No active access token found");
  return revoked;
}

export async function authenticate(services: Services, token: string): Promise<TokenHolder | undefined> {
  if (!isWellFormedToken("access", token)) return undefined;
  return findTokenHolder(services.db, hashToken(token), services.clock.now());
}

/** Uses may come in any order, and twice. */
export async function recordUsage({ db, usage }: Services): Promise<void> {
  for (let uses = await usage.take(); uses.length > 0; uses = await usage.take()) {
    const sorted = uses.sort(([a], [b]) => (a < b ? -1 : 1)); // one order for all workers: no deadlock
    try {
      await db.transaction(async (tx) => {
        for (const [tokenId, use] of sorted) await recordUseIfLater(tx, tokenId, use);
      });
    } catch (error) {
      await usage.putBack(sorted);
      throw error;
    }
  }
}

function auditAsOwner(tx: Tx, token: AccessToken, action: string): Promise<void> {
  const owner = { organization: { id: token.organizationId }, userId: token.userId };
  return audit(tx, owner, action, subjectOf(token));
}

function subjectOf({ id, description }: AccessToken): AuditSubject {
  return { type: "access_token", id, name: description || id };
}
