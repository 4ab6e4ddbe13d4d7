import { lockActiveRoles } from "../accounts/member-store.ts";
import { grantableScopes } from "../accounts/scopes.ts";
import type { Tx } from "../db/database.ts";
import { type Application, findApplication } from "../oauth/application-store.ts";
import { type Approval, createGrants, type IssuedTokens } from "../oauth/grants.ts";
import type { OAuthReason } from "../oauth/refusals.ts";
import type { Services } from "../runtime/services.ts";
import { redeemableMs } from "./device-code.ts";
import { type DeviceCode, denyIfApproved, redeemIfApproved } from "./store.ts";

/** A poll of an approved code. */
export interface Redemption {
  application: Application;
  code: DeviceCode;
}

/** The codes of the approvals that membership and role still allow, and of those that they do not. */
interface Sorted {
  allowed: Map<string, Approval>;
  forbidden: string[];
}

/**
 * Redeems approved codes: one transaction marks them used and stores grants and tokens. Of several redemptions of a
 * code, also in one group, exactly one gets tokens.
 */
export async function commitRedemptions(
  { db, clock }: Services,
  redemptions: Redemption[],
): Promise<(IssuedTokens | OAuthReason)[]> {
  const now = clock.now();
  const expiredBefore = new Date(now.getTime() - redeemableMs);
  return db.transaction(async (tx) => {
    const { allowed, forbidden } = await sortByRights(tx, redemptions);
    const redeemed = await redeemIfApproved(tx, [...allowed.keys()], expiredBefore);
    const denied = await denyIfApproved(tx, forbidden, expiredBefore);
    const approvals = [...redeemed].map((id) => allowed.get(id) as Approval);
    const issued = await createGrants(tx, approvals, now);
    const tokens = new Map([...redeemed].map((id, index) => [id, issued[index] as IssuedTokens]));
    return answerEach(tx, redemptions, tokens, denied);
  });
}

/** Membership and role may have changed since the approval. */
async function sortByRights(tx: Tx, redemptions: Redemption[]): Promise<Sorted> {
  const approvals = redemptions.map(approvalOf);
  const roles = await lockActiveRoles(tx, approvals);
  const allowed = new Map<string, Approval>();
  const forbidden = new Set<string>();
  for (const [index, approval] of approvals.entries()) {
    const { id } = (redemptions[index] as Redemption).code;
    const role = roles[index];
    const scopes = role ? grantableScopes(approval.scopes, role) : [];
    if (scopes.length > 0) allowed.set(id, { ...approval, scopes });
    else forbidden.add(id);
  }
  return { allowed, forbidden: [...forbidden] };
}

/** The approval of a code is final: it is as it was read. */
function approvalOf({ application, code }: Redemption): Approval {
  const { claimedById: userId, organizationId, grantedScopes, approvedUserAgent, approvedIp } = code;
  if (!userId || !organizationId) throw new Error(`Device code ${code.id} has no approval.`);
  return { application, userId, organizationId, scopes: grantedScopes ?? [], approvedUserAgent, approvedIp };
}

/** Gives the tokens of a code to the first of its redemptions. */
async function answerEach(
  tx: Tx,
  redemptions: Redemption[],
  tokens: Map<string, IssuedTokens>,
  denied: Set<string>,
): Promise<(IssuedTokens | OAuthReason)[]> {
  const answers: (IssuedTokens | OAuthReason)[] = [];
  for (const { application, code } of redemptions) {
    const issued = tokens.get(code.id);
    tokens.delete(code.id);
    if (issued) answers.push(issued);
    else if (denied.has(code.id)) answers.push("denied");
    else answers.push(await reasonOfLoser(tx, application));
  }
  return answers;
}

/** The code was redeemed by another poll, or expired; or the application was disabled, and the approval stays. */
async function reasonOfLoser(tx: Tx, { clientId }: Application): Promise<OAuthReason> {
  const application = await findApplication(tx, clientId);
  return application?.disabledAt === null ? "bad_device_code" : "bad_client";
}
