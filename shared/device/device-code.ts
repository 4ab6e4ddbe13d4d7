import { lockActiveRole } from "../accounts/member-store.ts";
import { findOrganization, findOrganizationById } from "../accounts/organization-store.ts";
import { grantableScopes } from "../accounts/scopes.ts";
import { hashToken, issueToken, isWellFormedToken } from "../crypto/tokens.ts";
import type { Tx } from "../db/database.ts";
import { dayMs, minuteMs, secondMs } from "../durations.ts";
import { isId, newId } from "../ids.ts";
import { type Application, findApplication } from "../oauth/application-store.ts";
import { createGrant, type IssuedTokens } from "../oauth/grants.ts";
import { OAuthRefusal } from "../oauth/refusals.ts";
import type { Services } from "../runtime/services.ts";
import {
  type DeviceCode,
  denyRedeemed,
  findDeviceCode,
  insertIfUserCodeIsFree,
  type NewDeviceCode,
  redeemIfApproved,
} from "./store.ts";
import { newUserCode } from "./user-code.ts";

/** After expiry a poll still gets the state for a day. */
export const rememberedMs = dayMs;
/** After expiry an approval can still be redeemed: it may come at the last moment. */
export const redeemableMs = minuteMs;
/** A second attempt is rare: there are 20^8 user codes. */
const maxAttempts = 5;

export interface DeviceAuthorization {
  deviceCode: string;
  userCode: string;
  expiresInSeconds: number;
  intervalSeconds: number;
}

/**
 * Issues codes to a device (ingress/README.md, "Device authorization").
 * @param request.organization slug to preselect; `organizationId` takes precedence; unknown ones are ignored
 */
export async function authorizeDevice(
  services: Services,
  application: Application,
  request: {
    scopes: string[];
    organization: string | undefined;
    organizationId: string | undefined;
    ip: string;
    userAgent: string | null;
  },
): Promise<DeviceAuthorization> {
  const { db, clock, cipher, config } = services;
  const now = clock.now();
  const deviceCode = issueToken("deviceCode");
  const code = {
    deviceCodeHash: hashToken(deviceCode),
    applicationId: application.id,
    scopes: request.scopes,
    preselectedOrganizationId: await findPreselectedId(services, request),
    requestIp: request.ip,
    requestUserAgent: request.userAgent,
    createdAt: now,
    expiresAt: new Date(now.getTime() + config.deviceCodeSeconds * secondMs),
  };

  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const userCode = newUserCode();
    const userCodeMac = cipher.macs(userCode)[0] as string;
    const row: NewDeviceCode = { ...code, id: newId(now), userCodeMac };
    if (await db.transaction((tx) => insertIfUserCodeIsFree(tx, row))) {
      const { deviceCodeSeconds: expiresInSeconds, pollIntervalSeconds: intervalSeconds } = config;
      return { deviceCode, userCode, expiresInSeconds, intervalSeconds };
    }
  }
  throw new Error("No free user code was found.");
}

async function findPreselectedId(
  { db }: Services,
  {
    organization: slug,
    organizationId,
  }: { organization: string | undefined; organizationId: string | undefined },
): Promise<string | null> {
  const id = organizationId?.toLowerCase();
  const byId = id !== undefined && isId(id) ? await findOrganizationById(db, id) : undefined;
  const found = byId ?? (slug && !slug.includes("\0") ? await findOrganization(db, slug) : undefined);
  return found?.id ?? null;
}

/**
 * Answers a poll: the tokens if the user has approved (RFC 8628 §3.4).
 * @throws OAuthRefusal in every other state
 */
export async function pollDeviceCode(
  services: Services,
  application: Application,
  deviceCode: string,
): Promise<IssuedTokens> {
  if (!application.deviceFlow) throw new OAuthRefusal("device_flow_off");
  if (!isWellFormedToken("deviceCode", deviceCode)) throw new OAuthRefusal("bad_device_code");
  const code = await findDeviceCode(services.db, hashToken(deviceCode));
  if (code?.applicationId !== application.id) throw new OAuthRefusal("bad_device_code");

  const now = services.clock.now();
  switch (stateAt(code, now)) {
    case "pending":
      throw new OAuthRefusal((await isTooSoon(services, code, now)) ? "too_fast" : "pending");
    case "approved":
      return redeem(services, application, code);
    case "denied":
      throw new OAuthRefusal("denied");
    case "expired":
      throw new OAuthRefusal("expired");
    case "used":
      throw new OAuthRefusal("bad_device_code");
  }
}

/** The state by time, also if the row is not updated yet. */
export function stateAt(code: DeviceCode, now: Date): DeviceCode["state"] {
  const pastMs = now.getTime() - code.expiresAt.getTime();
  if (pastMs >= rememberedMs) return "used";
  if (code.state === "pending" && pastMs >= 0) return "expired";
  if (code.state === "approved" && pastMs >= redeemableMs) return "expired";
  return code.state;
}

function isTooSoon({ pacing, config }: Services, code: DeviceCode, now: Date): Promise<boolean> {
  return pacing.isTooSoon({
    subject: code.id,
    now,
    intervalMs: config.pollIntervalSeconds * secondMs,
    lifetimeMs: code.expiresAt.getTime() - now.getTime(),
  });
}

/** One transaction: the loser of a race finds the code used. */
async function redeem(
  { db, clock }: Services,
  application: Application,
  code: DeviceCode,
): Promise<IssuedTokens> {
  const now = clock.now();
  const outcome = await db.transaction(async (tx) => {
    const redeemed = await redeemIfApproved(tx, code.id, new Date(now.getTime() - redeemableMs));
    return redeemed ? grantIfAllowed(tx, application, redeemed, now) : "used";
  });
  if (outcome === "used") throw new OAuthRefusal("bad_device_code");
  if (outcome === "denied") throw new OAuthRefusal("denied");
  return outcome;
}

/** Application, membership and role may have changed since the approval. */
async function grantIfAllowed(
  tx: Tx,
  { clientId }: Application,
  code: DeviceCode,
  now: Date,
): Promise<IssuedTokens | "denied"> {
  const application = await findApplication(tx, clientId);
  if (!application || application.disabledAt) throw new OAuthRefusal("bad_client"); // rolls back: the approval stays
  if (!code.claimedById || !code.organizationId) throw new Error(`Device code ${code.id} has no approval.`);

  const role = await lockActiveRole(tx, code.organizationId, code.claimedById);
  const scopes = role ? grantableScopes(code.grantedScopes ?? [], role) : [];
  if (scopes.length === 0) {
    await denyRedeemed(tx, code.id);
    return "denied";
  }
  const { claimedById: userId, organizationId, approvedUserAgent, approvedIp } = code;
  return createGrant(tx, application, { userId, organizationId, scopes, approvedUserAgent, approvedIp }, now);
}
