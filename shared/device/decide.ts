import { listMemberships, lockActiveRole } from "../accounts/member-store.ts";
import type { Organization } from "../accounts/organization-store.ts";
import { grantableScopes } from "../accounts/scopes.ts";
import type { Tx } from "../db/database.ts";
import type { Application } from "../oauth/application-store.ts";
import { countGrants } from "../oauth/grant-store.ts";
import { Refusal, unprocessable } from "../refusal.ts";
import type { Services } from "../services/services.ts";
import { stored } from "../sharing/bounds.ts";
import { roomProblems } from "../sharing/room.ts";
import {
  approveIfPending,
  countApproved,
  denyIfPending,
  enterIfPending,
  findEntered,
  releaseIfPending,
} from "./decision-store.ts";
import { redeemableMs, rememberedMs, stateAt } from "./device-code.ts";
import type { DeviceCode } from "./store.ts";

/** No other user may see or decide the code. */
export interface EnteredCode {
  userId: string;
  /** Normalized by `readUserCode`. */
  userCode: string;
}

export interface DeviceRequest {
  code: DeviceCode;
  application: Application;
  state: DeviceCode["state"];
}

export interface OrganizationChoice {
  organization: Organization;
  granted: string[];
  /** Scopes that the user's role does not allow. */
  dropped: string[];
}

/**
 * Keeps a code for the user who entered it.
 * @param cameByLink the code was in the address, not typed
 * @returns false if unknown, expired, decided, or entered by another user
 */
export async function enterUserCode(
  { db, clock, cipher }: Services,
  { userId, userCode }: EnteredCode,
  cameByLink: boolean,
): Promise<boolean> {
  const entry = { userId, cameByLink, now: clock.now() };
  const entered = await db.transaction((tx) => enterIfPending(tx, cipher.macs(userCode), entry));
  return entered !== undefined;
}

/** Finds the request of an entered code. Pending ones of a disabled application count as expired. */
export async function findDeviceRequest(
  { db, clock, cipher }: Services,
  { userId, userCode }: EnteredCode,
): Promise<DeviceRequest | undefined> {
  const found = await findEntered(db, cipher.macs(userCode), userId);
  const now = clock.now();
  if (!found || now.getTime() - found.code.expiresAt.getTime() >= rememberedMs) return undefined;
  const state = stateAt(found.code, now);
  const isDisabled = found.application.disabledAt !== null && state === "pending";
  return { ...found, state: isDisabled ? "expired" : state };
}

/** Returns what each of the user's organizations would grant. */
export async function listChoices(
  { db }: Services,
  userId: string,
  scopes: string[],
): Promise<OrganizationChoice[]> {
  const memberships = await listMemberships(db, userId);
  return memberships.map(({ organization, role }) => {
    const granted = grantableScopes(scopes, role);
    return { organization, granted, dropped: scopes.filter((scope) => !granted.includes(scope)) };
  });
}

/**
 * Approves a request, without the scopes that the user's role does not allow.
 * @returns false if it was decided or has expired
 * @throws Refusal 422 if the user is not a member, no scope remains, or the member may connect no more apps: the request
 * then stays pending
 */
export async function approve(
  { db, clock, config }: Services,
  { code, userId }: { code: DeviceCode; userId: string },
  approval: { organizationId: string; ip: string; userAgent: string | null },
): Promise<boolean> {
  const { organizationId, ip, userAgent } = approval;
  const now = clock.now();
  return db.transaction(async (tx) => {
    const role = await lockActiveRole(tx, organizationId, userId);
    if (!role) throw refuseApproval("You are not a member of that organization");
    const grantedScopes = grantableScopes(code.scopes, role);
    if (grantedScopes.length === 0)
      throw refuseApproval("Your role in that organization allows none of the requested scopes");
    const full = await roomProblems(config, stored.connectedApps, (limit) =>
      countConnected(tx, { organizationId, userId, now }, limit),
    );
    if (full.length > 0) throw unprocessable(...full);
    const decision = { id: code.id, userId, now };
    return approveIfPending(tx, decision, {
      organizationId,
      grantedScopes,
      approvedUserAgent: userAgent,
      approvedIp: ip,
    });
  });
}

/** Redeeming a code turns it into a grant, and locks the membership too: neither is counted twice nor missed. */
async function countConnected(
  tx: Tx,
  { organizationId, userId, now }: { organizationId: string; userId: string; now: Date },
  limit: number,
): Promise<number> {
  const member = { organizationId, userId, expiredBefore: new Date(now.getTime() - redeemableMs) };
  return (await countGrants(tx, member, limit)) + (await countApproved(tx, member, limit));
}

/** Returns false if it was decided or has expired. */
export function deny({ db, clock }: Services, id: string, userId: string): Promise<boolean> {
  return db.transaction((tx) => denyIfPending(tx, { id, userId, now: clock.now() }));
}

/** Lets another user enter the code. */
export function release({ db, clock }: Services, id: string, userId: string): Promise<boolean> {
  return db.transaction((tx) => releaseIfPending(tx, { id, userId, now: clock.now() }));
}

function refuseApproval(message: string): Refusal {
  return new Refusal(422, message, { problems: [{ field: "organization", message }] });
}
