import { listMemberships, lockActiveRole } from "../accounts/member-store.ts";
import type { Organization } from "../accounts/organization-store.ts";
import { grantableScopes } from "../accounts/scopes.ts";
import type { Application } from "../oauth/application-store.ts";
import { Refusal } from "../refusal.ts";
import type { Services } from "../runtime/services.ts";
import {
  approveIfPending,
  claimIfPending,
  denyIfPending,
  findClaimed,
  releaseIfPending,
} from "./decision-store.ts";
import { rememberedMs, stateAt } from "./device-code.ts";
import type { DeviceCode } from "./store.ts";

/** A user with the code that they entered. Nobody else sees or decides it. */
export interface Claim {
  userId: string;
  /** As `readUserCode` gives it. */
  userCode: string;
}

/** A device's request, as the user who claimed it sees it. */
export interface DeviceRequest {
  code: DeviceCode;
  application: Application;
  /** Whether it can still be decided; otherwise what it has come to. */
  state: DeviceCode["state"];
}

/** Where a user could authorize a request, and what of it would be granted there. */
export interface OrganizationChoice {
  organization: Organization;
  granted: string[];
  /** What a member of this role cannot hold, so that it would be left out. */
  dropped: string[];
}

/**
 * Enter a code: from now on the request is this user's to decide.
 * @param cameByLink whether the code was in an address instead of typed
 * @returns false when it is unknown, expired, decided, or another user's
 */
export async function claimUserCode(
  { db, clock, cipher }: Services,
  { userId, userCode }: Claim,
  cameByLink: boolean,
): Promise<boolean> {
  const claim = { userId, cameByLink, now: clock.now() };
  const claimed = await db.transaction((tx) => claimIfPending(tx, cipher.macs(userCode), claim));
  return claimed !== undefined;
}

/**
 * The request that the user has claimed under this code, for a day after it expired. A disabled application's can
 * only have expired.
 */
export async function findDeviceRequest(
  { db, clock, cipher }: Services,
  { userId, userCode }: Claim,
): Promise<DeviceRequest | undefined> {
  const found = await findClaimed(db, cipher.macs(userCode), userId);
  const now = clock.now();
  if (!found || now.getTime() - found.code.expiresAt.getTime() >= rememberedMs) return undefined;
  const state = stateAt(found.code, now);
  const isOff = found.application.disabledAt !== null && state === "pending";
  return { ...found, state: isOff ? "expired" : state };
}

/** The user's organizations, with what each would grant of the scopes. */
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
 * Approve a request in one of the user's organizations. What the user cannot hold there is left out.
 * @returns false when the request can no longer be decided
 * @throws Refusal 422 when the user may not, or nothing would remain
 */
export async function approve(
  { db, clock }: Services,
  { code, userId }: { code: DeviceCode; userId: string },
  approval: { organizationId: string; ip: string; userAgent: string | null },
): Promise<boolean> {
  const { organizationId, ip, userAgent } = approval;
  const now = clock.now();
  return db.transaction(async (tx) => {
    const role = await lockActiveRole(tx, organizationId, userId);
    if (!role) throw notAllowed("You are not a member of that organization");
    const grantedScopes = grantableScopes(code.scopes, role);
    if (grantedScopes.length === 0)
      throw notAllowed("Your role in that organization allows nothing of what is asked for");
    const decision = { id: code.id, userId, now };
    return approveIfPending(tx, decision, {
      organizationId,
      grantedScopes,
      approvedUserAgent: userAgent,
      approvedIp: ip,
    });
  });
}

/** Deny a request. False when it can no longer be decided. */
export function deny({ db, clock }: Services, id: string, userId: string): Promise<boolean> {
  return db.transaction((tx) => denyIfPending(tx, { id, userId, now: clock.now() }));
}

/** Give a request up, so that another user can enter its code. */
export function release({ db, clock }: Services, id: string, userId: string): Promise<boolean> {
  return db.transaction((tx) => releaseIfPending(tx, { id, userId, now: clock.now() }));
}

function notAllowed(reason: string): Refusal {
  return new Refusal(422, reason);
}
