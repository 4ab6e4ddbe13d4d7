import { newId } from "../ids.ts";
import { Refusal, validationFailed } from "../refusal.ts";
import type { Services } from "../services.ts";
import { hashToken, issueToken, isWellFormedToken } from "../tokens.ts";
import { recordAudit } from "./audit.ts";
import { requireOperator, requireOrganization } from "./organizations.ts";
import { isScope } from "./scopes.ts";
import {
  type AccessToken,
  findRole,
  findTokenHolder,
  insertAccessToken,
  recordUseIfLater,
  revokeAccessTokenIfActive,
  type TokenHolder,
} from "./store.ts";
import { requireUser } from "./users.ts";

/**
 * A new API access token of a user in one organization, made by the operator.
 * @param input.expiresInHours absent: it does not expire
 * @returns the stored token and, this once, its text
 * @throws Refusal 404, 422
 */
export async function createAccessToken(
  services: Services,
  input: {
    email: string;
    organization: string;
    scopes: string[];
    description: string;
    expiresInHours?: number | undefined;
  },
): Promise<{ token: string; accessToken: AccessToken }> {
  const scopes = [...new Set(input.scopes)];
  const unknown = scopes.filter((scope) => !isScope(scope));
  if (scopes.length === 0) throw validationFailed("Scopes can't be blank");
  if (unknown.length > 0)
    throw validationFailed(...unknown.map((scope) => `Scope ${scope} is not a known scope`));

  const now = services.clock.now();
  const token = issueToken("access");
  const accessToken = await services.db.transaction(async (tx) => {
    const organization = await requireOrganization(tx, input.organization);
    const user = await requireUser(tx, input.email);
    if (!(await findRole(tx, organization.id, user.id))) {
      throw validationFailed("User is not a member of the organization");
    }
    const row: AccessToken = {
      id: newId(now),
      tokenHash: hashToken(token),
      userId: user.id,
      organizationId: organization.id,
      scopes,
      description: input.description,
      createdAt: now,
      expiresAt: input.expiresInHours ? new Date(now.getTime() + input.expiresInHours * 3_600_000) : null,
      revokedAt: null,
      grantId: null,
      lastUsedAt: null,
    };
    await insertAccessToken(tx, row);
    const operator = await requireOperator(tx, organization);
    await recordAudit(tx, audited(row, operator.id, "created"), now);
    return row;
  });
  return { token, accessToken };
}

/**
 * Effective on the very next request.
 * @throws Refusal 404 when there is no such token in force
 */
export async function revokeAccessToken(services: Services, id: string): Promise<AccessToken> {
  const now = services.clock.now();
  return services.db.transaction(async (tx) => {
    const revoked = await revokeAccessTokenIfActive(tx, id, now);
    if (!revoked) throw new Refusal(404, "No access token found that is still in force");
    await recordAudit(tx, audited(revoked, revoked.userId, "revoked"), now);
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
      for (const [tokenId, use] of inOrder) usage.note(tokenId, use);
      throw error;
    }
  }
}

function audited(token: AccessToken, actorId: string, action: string) {
  return {
    organizationId: token.organizationId,
    actorId,
    action,
    subjectType: "access_token" as const,
    subjectId: token.id,
    subject: token.description || token.id,
  };
}
