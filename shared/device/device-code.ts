import { lockActiveRole } from "../accounts/member-store.ts";
import { findOrganization, findOrganizationById } from "../accounts/organization-store.ts";
import { grantableScopes } from "../accounts/scopes.ts";
import { hashToken, issueToken, isWellFormedToken } from "../crypto/tokens.ts";
import type { Tx } from "../db/database.ts";
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

const secondMs = 1000;
/** How long after expiry a poll still learns what became of the code; then it is unknown. */
export const rememberedMs = 24 * 3600 * secondMs;
/** An approval in the last moment is worth a poll or two more. */
export const redeemableMs = 60 * secondMs;
/** With 20^8 user codes a second try is rare; a third means that something else is wrong. */
const maxTries = 5;

export interface DeviceAuthorization {
  deviceCode: string;
  userCode: string;
  expiresInSeconds: number;
  intervalSeconds: number;
}

/**
 * New codes for a device that wants to be signed in (spec §4.1).
 * @param from.organization slug of the organization to preselect, or `organizationId`, which wins; unknown ones
 * are ignored
 */
export async function authorizeDevice(
  services: Services,
  application: Application,
  from: {
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
  const hintedOrganizationId = await findHinted(services, from);

  for (let tried = 0; tried < maxTries; tried++) {
    const userCode = newUserCode();
    const code: NewDeviceCode = {
      id: newId(now),
      deviceCodeHash: hashToken(deviceCode),
      userCodeMac: cipher.macs(userCode)[0] as string,
      applicationId: application.id,
      scopes: from.scopes,
      hintedOrganizationId,
      requestIp: from.ip,
      requestUserAgent: from.userAgent,
      createdAt: now,
      expiresAt: new Date(now.getTime() + config.deviceCodeSeconds * secondMs),
    };
    if (await db.transaction((tx) => insertIfUserCodeIsFree(tx, code))) {
      const { deviceCodeSeconds, pollIntervalSeconds } = config;
      return {
        deviceCode,
        userCode,
        expiresInSeconds: deviceCodeSeconds,
        intervalSeconds: pollIntervalSeconds,
      };
    }
  }
  throw new Error("No free user code was found.");
}

async function findHinted(
  { db }: Services,
  hint: { organization: string | undefined; organizationId: string | undefined },
): Promise<string | null> {
  const id = hint.organizationId?.toLowerCase();
  const byId = id !== undefined && isId(id) ? await findOrganizationById(db, id) : undefined;
  const slug = hint.organization;
  const found = byId ?? (slug && !slug.includes("\0") ? await findOrganization(db, slug) : undefined);
  return found?.id ?? null;
}

/**
 * A poll of the token endpoint (spec §3.1, RFC 8628 §3.4): the tokens if the user has approved.
 * @throws OAuthRefusal for every other state
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

/** The state that time has brought a code to, whether or not a sweep has written it down. */
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

/** Code, grant and tokens in one transaction. The loser of a race finds the code used. */
async function redeem(
  { db, clock }: Services,
  application: Application,
  code: DeviceCode,
): Promise<IssuedTokens> {
  const now = clock.now();
  const outcome = await db.transaction(async (tx) => {
    const redeemed = await redeemIfApproved(tx, code.id, new Date(now.getTime() - redeemableMs));
    return redeemed ? grantTo(tx, application, redeemed, now) : "used";
  });
  if (outcome === "used") throw new OAuthRefusal("bad_device_code");
  if (outcome === "denied") throw new OAuthRefusal("denied");
  return outcome;
}

/** Everything that may have changed since the approval is looked at again. */
async function grantTo(
  tx: Tx,
  { clientId }: Application,
  code: DeviceCode,
  now: Date,
): Promise<IssuedTokens | "denied"> {
  const application = await findApplication(tx, clientId);
  if (!application || application.disabledAt) throw new OAuthRefusal("bad_client"); // the approval stands
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
