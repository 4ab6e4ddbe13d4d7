import { inArray } from "drizzle-orm";
import { hashToken } from "../../../shared/crypto/tokens.ts";
import { commitNewCodes } from "../../../shared/device/authorize.ts";
import { deviceGrantType } from "../../../shared/device/device-code.ts";
import { patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/services/services.ts";
import { type PlainRequest, postForm } from "../load/request.ts";
import { client, type Tenant } from "../servers/tenant.ts";

export type Progress = "pending" | "approved";

/** Lasts a whole run. */
export const deviceCodeSeconds = 3600;

/** Asks for codes as devices do, and approves them as one person would. */
export async function makeCodes(
  services: Services,
  { applicationId, organizationId, userId }: Pick<Tenant, "applicationId" | "organizationId" | "userId">,
  progress: Progress,
  count: number,
): Promise<string[]> {
  const { scopes } = client;
  const asked = { preselectedOrganizationId: null, requestIp: "127.0.0.1", requestUserAgent: null };
  const requests = Array.from({ length: count }, () => ({ applicationId, scopes, ...asked }));
  const codes = (await commitNewCodes(services, requests)).map(({ deviceCode }) => deviceCode);
  if (progress === "pending") return codes;
  const approval = { grantedScopes: scopes, approvedUserAgent: "bench", approvedIp: "127.0.0.1" };
  const decided = { state: progress, claimedById: userId, decidedAt: services.clock.now(), organizationId };
  await services.db.transaction(async (tx) => {
    const { deviceCodes } = tx.tables;
    const isOurs = inArray(deviceCodes.deviceCodeHash, codes.map(hashToken));
    await tx
      .update(deviceCodes)
      .set({ ...decided, ...approval })
      .where(isOurs);
  });
  return codes;
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
