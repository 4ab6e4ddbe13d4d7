import { findTokenHolder } from "../accounts/access-token-store.ts";
import { lockActiveRoles } from "../accounts/member-store.ts";
import { grantableScopes } from "../accounts/scopes.ts";
import { hashToken } from "../crypto/tokens.ts";
import { commitOrLookUp, type Db, type Tx } from "../db/database.ts";
import { type Application, findApplication } from "../oauth/application-store.ts";
import { type Approval, createGrants, type IssuedTokens } from "../oauth/grants.ts";
import type { OAuthReason } from "../oauth/refusals.ts";
import type { Services } from "../services/services.ts";
import { redeemableMs } from "./device-code.ts";
import { denyRedeemed, type RedeemedCode, redeemIfApproved } from "./store.ts";

/** A poll of an approved code. */
export interface Redemption {
  application: Application;
  /** The id of the device code. */
  id: string;
}

export type Redeemed = IssuedTokens | OAuthReason;

/**
 * Redeems approved codes: one transaction marks them used and stores grants and tokens. Of several redemptions of a
 * code, also in one batch, exactly one gets tokens.
 */
export async function commitRedemptions(
  { db, clock }: Services,
  redemptions: Redemption[],
): Promise<Redeemed[]> {
  const now = clock.now();
  const expiredBefore = new Date(now.getTime() - redeemableMs);
  const ids = [...new Set(redemptions.map(({ id }) => id))];
  const applications = new Map(redemptions.map(({ id, application }) => [id, application]));

  const redeem = async (tx: Tx) => {
    const codes = await redeemIfApproved(tx, { ids, expiredBefore });
    const approvals = codes.map((code) => approvalOf(code, applications.get(code.id) as Application));
    const outcomes = await grantAllowed(tx, codes, approvals, now);
    return answerEach(tx, redemptions, outcomes);
  };
  return commitOrLookUp(db, redeem, (redeemed) => wereCommitted(db, redeemed, now));
}

/** Looks up one token: all share the transaction. Otherwise a lost answer would use up the codes. */
async function wereCommitted(db: Db, redeemed: Redeemed[], now: Date): Promise<boolean> {
  const issued = redeemed.find((each) => typeof each !== "string");
  if (!issued) return false;
  return (await findTokenHolder(db, hashToken(issued.accessToken), now)) !== undefined;
}

function approvalOf(code: RedeemedCode, application: Application): Approval {
  const { claimedById: userId, organizationId, grantedScopes, approvedUserAgent, approvedIp } = code;
  if (!userId || !organizationId) throw new Error(`Device code ${code.id} has no approval.`);
  return { application, userId, organizationId, scopes: grantedScopes ?? [], approvedUserAgent, approvedIp };
}

/** Membership and role may have changed since the approval. Returns the outcome of each code, by id. */
async function grantAllowed(
  tx: Tx,
  codes: RedeemedCode[],
  approvals: Approval[],
  now: Date,
): Promise<Map<string, Redeemed>> {
  if (codes.length === 0) return new Map();
  const roles = await lockActiveRoles(tx, approvals);
  const outcomes = new Map<string, Redeemed>();
  const allowed = new Map<string, Approval>();
  for (const [index, { id }] of codes.entries()) {
    const approval = approvals[index] as Approval;
    const role = roles[index];
    const scopes = role ? grantableScopes(approval.scopes, role) : [];
    if (scopes.length > 0) allowed.set(id, { ...approval, scopes });
    else outcomes.set(id, "withdrawn");
  }
  if (outcomes.size > 0) await denyRedeemed(tx, [...outcomes.keys()]);
  const issued = await createGrants(tx, [...allowed.values()], now);
  for (const [index, id] of [...allowed.keys()].entries()) outcomes.set(id, issued[index] as IssuedTokens);
  return outcomes;
}

/** Gives the outcome of a code to the first of its redemptions. */
async function answerEach(
  tx: Tx,
  redemptions: Redemption[],
  outcomes: Map<string, Redeemed>,
): Promise<Redeemed[]> {
  const answers: Redeemed[] = [];
  for (const { application, id } of redemptions) {
    answers.push(outcomes.get(id) ?? (await reasonNotRedeemed(tx, application)));
    outcomes.delete(id);
  }
  return answers;
}

/** Either another poll was first, the approval has expired, or the application is disabled; then the approval stays. */
async function reasonNotRedeemed(tx: Tx, { clientId }: Application): Promise<OAuthReason> {
  const application = await findApplication(tx, clientId);
  return application?.disabledAt === null ? "bad_device_code" : "bad_client";
}
