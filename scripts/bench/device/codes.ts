import { insertMember } from "../../../shared/accounts/member-store.ts";
import { findOperator } from "../../../shared/accounts/user-store.ts";
import { hashToken, issueToken } from "../../../shared/crypto/tokens.ts";
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

export const deviceGrantType = "urn:ietf:params:oauth:grant-type:device_code";

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
  { applicationId, organizationId, userId }: Seed,
  { progress, count }: { progress: Progress; count: number },
): Promise<string[]> {
  const createdAt = clock.now();
  const deviceCodes = Array.from({ length: count }, () => issueToken("deviceCode"));
  const isApproved = progress === "approved";
  const rows = deviceCodes.map(
    (deviceCode): DeviceCode => ({
      id: newId(createdAt),
      deviceCodeHash: hashToken(deviceCode),
      userCodeMac: cipher.macs(newUserCode())[0] as string,
      applicationId,
      scopes: client.scopes,
      state: progress,
      preselectedOrganizationId: null,
      requestIp: "127.0.0.1",
      requestUserAgent: null,
      createdAt,
      expiresAt: new Date(createdAt.getTime() + deviceCodeSeconds * 1000),
      cameByLink: false,
      claimedById: isApproved ? userId : null,
      decidedAt: isApproved ? createdAt : null,
      organizationId: isApproved ? organizationId : null,
      grantedScopes: isApproved ? client.scopes : null,
      approvedUserAgent: isApproved ? "bench" : null,
      approvedIp: isApproved ? "127.0.0.1" : null,
    }),
  );
  await db.transaction((tx) => tx.insertMany(tx.tables.deviceCodes, rows));
  return deviceCodes;
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
