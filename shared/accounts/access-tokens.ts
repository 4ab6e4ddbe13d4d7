import { hashToken, issueToken, isWellFormedToken } from "../crypto/tokens.ts";
import type { Tx } from "../db/database.ts";
import { newId } from "../ids.ts";
import { Refusal, validationFailed } from "../refusal.ts";
import type { Services } from "../runtime/services.ts";
import {
  type AccessToken,
  findAccessToken,
  findTokenHolder,
  insertAccessToken,
  recordUseIfLater,
  revokeAccessTokenIfActive,
  type TokenHolder,
} from "./access-token-store.ts";
import { audit } from "./audit.ts";
import { findRole, lockActiveRole } from "./member-store.ts";
import { nameProblems, requireOperator, requireOrganization } from "./organizations.ts";
import { grantableScopes, isScope } from "./scopes.ts";
import { requireUser } from "./users.ts";

const hourMs = 3_600_000;

interface NewAccessToken {
  scopes: string[];
  description: string;
  /** Absent: it does not expire. */
  expiresInHours?: number | undefined;
}

/**
 * A new API access token of a user in one organization, made by the operator.
 * @returns the stored token and, this once, its text
 * @throws Refusal 404, 422
 */
export async function createAccessToken(
  services: Services,
  input: NewAccessToken & { email: string; organization: string },
): Promise<{ token: string; accessToken: AccessToken }> {
  const scopes = knownScopes(input.scopes);
  return services.db.transaction(async (tx) => {
    const organization = await requireOrganization(tx, input.organization);
    const user = await requireUser(tx, input.email);
    if (!(await findRole(tx, organization.id, user.id))) {
      throw validationFailed("User is not a member of the organization");
    }
    const operator = await requireOperator(tx, organization);
    const of = { userId: user.id, organizationId: organization.id, actorId: operator.id };
    return storeAccessToken(tx, { ...input, ...of, scopes, now: services.clock.now() });
  });
}

/**
 * A new API access token that a user makes for themselves.
 * @param input.id made with the form, so that a form that is sent twice makes one token
 * @returns its text, this once; undefined when the form was sent before
 * @throws Refusal 422
 */
export async function createOwnAccessToken(
  services: Services,
  userId: string,
  input: NewAccessToken & { id: string; organizationId: string },
): Promise<string | undefined> {
  const scopes = knownScopes(input.scopes);
  const problems = nameProblems(input.description);
  if (problems.length > 0) throw validationFailed(...problems);

  return services.db.transaction(async (tx) => {
    const role = await lockActiveRole(tx, input.organizationId, userId);
    if (!role) throw validationFailed("You are not a member of that organization");
    if (await findAccessToken(tx, input.id)) return undefined; // after the lock: a double click sends two at once
    const held = grantableScopes(scopes, role);
    const others = scopes.filter((scope) => !held.includes(scope));
    if (others.length > 0) {
      throw validationFailed(...others.map((scope) => `Scope ${scope} needs an admin of the organization`));
    }
    const of = { userId, actorId: userId, scopes, now: services.clock.now() };
    return (await storeAccessToken(tx, { ...input, ...of })).token;
  });
}

/** @throws Refusal 422 */
function knownScopes(given: string[]): string[] {
  const scopes = [...new Set(given)];
  const unknown = scopes.filter((scope) => !isScope(scope));
  if (scopes.length === 0) throw validationFailed("Scopes can't be blank");
  if (unknown.length > 0)
    throw validationFailed(...unknown.map((scope) => `Scope ${scope} is not a known scope`));
  return scopes;
}

async function storeAccessToken(
  tx: Tx,
  input: NewAccessToken & { id?: string; userId: string; organizationId: string; actorId: string; now: Date },
): Promise<{ token: string; accessToken: AccessToken }> {
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
  await insertAccessToken(tx, accessToken);
  await auditToken(tx, accessToken, input.actorId, "created");
  return { token, accessToken };
}

/**
 * Effective on the very next request.
 * @param ownerId only if it is this user's own API access token; undefined: whosever it is
 * @throws Refusal 404 when there is no such token in force
 */
export async function revokeAccessToken(
  services: Services,
  id: string,
  ownerId?: string,
): Promise<AccessToken> {
  const now = services.clock.now();
  return services.db.transaction(async (tx) => {
    const revoked = await revokeAccessTokenIfActive(tx, id, now, ownerId);
    if (!revoked) throw new Refusal(404, "No access token found that is still in force");
    await auditToken(tx, revoked, revoked.userId, "revoked");
    return revoked;
  });
}

/** Who calls with this token; undefined for anything that is not a token in force. */
export async function authenticate(services: Services, token: string): Promise<TokenHolder | undefined> {
  if (!isWellFormedToken("access", token)) return undefined;
  return findTokenHolder(services.db, hashToken(token), services.clock.now());
}

/**
 * Write down the uses of tokens that were noted since the last time. They come in no order and may be written
 * twice: only a later one than is known changes anything.
 */
export async function recordUsage({ db, usage }: Services): Promise<void> {
  for (let notes = await usage.take(); notes.length > 0; notes = await usage.take()) {
    const inOrder = notes.sort(([a], [b]) => (a < b ? -1 : 1)); // so that two workers do not wait for each other
    try {
      await db.transaction(async (tx) => {
        for (const [tokenId, use] of inOrder) await recordUseIfLater(tx, tokenId, use);
      });
    } catch (error) {
      for (const [tokenId, use] of inOrder) usage.record(tokenId, use);
      throw error;
    }
  }
}

function auditToken(tx: Tx, token: AccessToken, actorId: string, action: string): Promise<void> {
  const actor = { organization: { id: token.organizationId }, userId: actorId };
  return audit(tx, actor, action, {
    type: "access_token",
    id: token.id,
    name: token.description || token.id,
  });
}
