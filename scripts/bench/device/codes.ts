import { hashToken, issueToken } from "../../../shared/crypto/tokens.ts";
import { deviceGrantType } from "../../../shared/device/device-code.ts";
import { newUserCode } from "../../../shared/device/user-code.ts";
import { newId } from "../../../shared/ids.ts";
import { patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/services/services.ts";
import { type PlainRequest, postForm } from "../load/request.ts";
import { client, type Tenant } from "../servers/tenant.ts";

export type Progress = "pending" | "approved";

/** Lasts a whole run. */
export const deviceCodeSeconds = 3600;

/** Inserts the rows of `authorizeDevice` and `approve`. */
export async function makeCodes(
  { db, clock, cipher }: Services,
  { applicationId, organizationId, userId }: Pick<Tenant, "applicationId" | "organizationId" | "userId">,
  progress: Progress,
  count: number,
): Promise<string[]> {
  const createdAt = clock.now();
  const undecided = {
    claimedById: null,
    decidedAt: null,
    organizationId: null,
    grantedScopes: null,
    approvedUserAgent: null,
    approvedIp: null,
  };
  const decided = {
    claimedById: userId,
    decidedAt: createdAt,
    organizationId,
    grantedScopes: client.scopes,
    approvedUserAgent: "bench",
    approvedIp: "127.0.0.1",
  };
  const deviceCodes = Array.from({ length: count }, () => issueToken("deviceCode"));
  const rows = deviceCodes.map((deviceCode) => ({
    id: newId(createdAt),
    applicationId,
    scopes: client.scopes,
    state: progress,
    createdAt,
    deviceCodeHash: hashToken(deviceCode),
    userCodeMac: cipher.macs(newUserCode())[0] as string,
    preselectedOrganizationId: null,
    requestIp: "127.0.0.1",
    requestUserAgent: null,
    cameByLink: false,
    expiresAt: new Date(createdAt.getTime() + deviceCodeSeconds * 1000),
    ...(progress === "pending" ? undecided : decided),
  }));
  await db.transaction((tx) => tx.insertMany(tx.tables.deviceCodes, rows));
  return deviceCodes;
}

export function authorization(url: string): PlainRequest {
  return postForm(url, { client_id: client.id, scope: client.scopes.join(" ") });
}

export function poll(url: string, device_code: string): PlainRequest {
  return postForm(url, { grant_type: deviceGrantType, client_id: client.id, device_code });
}

export function deviceUrls(url: string) {
  return {
    authorizationUrl: `${url}${patterns.deviceAuthorization}`,
    tokenUrl: `${url}${patterns.token}`,
  };
}
