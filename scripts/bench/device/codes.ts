import { insertMember } from "../../../shared/accounts/member-store.ts";
import { findOperator } from "../../../shared/accounts/user-store.ts";
import { hashToken, issueToken } from "../../../shared/crypto/tokens.ts";
import { deviceGrantType } from "../../../shared/device/device-code.ts";
import type { DeviceCode } from "../../../shared/device/store.ts";
import { newUserCode } from "../../../shared/device/user-code.ts";
import { newId } from "../../../shared/ids.ts";
import { createApplication } from "../../../shared/oauth/applications.ts";
import { patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/process/services.ts";
import { type PlainRequest, postForm } from "../load/request.ts";

/** Each server knows it. */
export const client = {
  id: "bench-device",
  scopes: ["read_builds", "write_builds", "read_pipelines"],
};

export type Progress = "pending" | "approved";

/** Lasts a whole run. */
export const deviceCodeSeconds = 3600;

export interface Seed {
  applicationId: string;
  organizationId: string;
  userId: string;
}

/** Registers the client. The Operator becomes a member, who approves. */
export async function createSeed(services: Services, organizationId: string): Promise<Seed> {
  const { application } = await createApplication(services, {
    name: "Bench",
    clientId: client.id,
    confidential: false,
    deviceFlow: true,
    refreshTokens: false,
    accessTokenMinutes: 60,
  });
  const userId = await services.db.transaction(async (tx) => {
    const operator = await findOperator(tx, organizationId);
    if (!operator) throw new Error("An organization without its Operator.");
    const createdAt = services.clock.now();
    await insertMember(tx, { organizationId, userId: operator.id, role: "admin", createdAt });
    return operator.id;
  });
  return { applicationId: application.id, organizationId, userId };
}

/** Inserts the rows of `authorizeDevice` and `approve`. */
export async function makeCodes(
  { db, clock, cipher }: Services,
  seed: Seed,
  { progress, count }: { progress: Progress; count: number },
): Promise<string[]> {
  const createdAt = clock.now();
  const deviceCodes = Array.from({ length: count }, () => issueToken("deviceCode"));
  const rows = deviceCodes.map((deviceCode) => ({
    ...newCode(seed, { state: progress, createdAt }),
    deviceCodeHash: hashToken(deviceCode),
    userCodeMac: cipher.macs(newUserCode())[0] as string,
  }));
  await db.transaction((tx) => tx.insertMany(tx.tables.deviceCodes, rows));
  return deviceCodes;
}

/** A row without its secrets. */
export function newCode(
  { applicationId, organizationId, userId }: Seed,
  { state, createdAt }: { state: Progress | "used"; createdAt: Date },
): Omit<DeviceCode, "deviceCodeHash" | "userCodeMac"> {
  const isDecided = state !== "pending";
  return {
    id: newId(createdAt),
    applicationId,
    scopes: client.scopes,
    state,
    preselectedOrganizationId: null,
    requestIp: "127.0.0.1",
    requestUserAgent: null,
    createdAt,
    expiresAt: new Date(createdAt.getTime() + deviceCodeSeconds * 1000),
    cameByLink: false,
    claimedById: isDecided ? userId : null,
    decidedAt: isDecided ? createdAt : null,
    organizationId: isDecided ? organizationId : null,
    grantedScopes: isDecided ? client.scopes : null,
    approvedUserAgent: isDecided ? "bench" : null,
    approvedIp: isDecided ? "127.0.0.1" : null,
  };
}

export function authorization(url: string): PlainRequest {
  return postForm(url, { client_id: client.id, scope: client.scopes.join(" ") });
}

/** @param clientId of the application that has the code */
export function poll(url: string, device_code: string, clientId = client.id): PlainRequest {
  return postForm(url, { grant_type: deviceGrantType, client_id: clientId, device_code });
}

export function deviceUrls(url: string) {
  return {
    authorizationUrl: `${url}${patterns.deviceAuthorization}`,
    tokenUrl: `${url}${patterns.token}`,
  };
}
