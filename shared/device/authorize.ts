import { findOrganization, findOrganizationById } from "../accounts/organization-store.ts";
import { hashToken, issueToken } from "../crypto/tokens.ts";
import { isUniqueViolation } from "../db/database.ts";
import { secondMs } from "../durations.ts";
import { isId, newId } from "../ids.ts";
import type { Services } from "../services/services.ts";
import { insertPending, type NewDeviceCode } from "./store.ts";
import { newUserCode } from "./user-code.ts";

/** A second try is rare: there are 20^8 user codes. */
const maxTries = 5;

/** A device asks for codes. */
export type CodeRequest = Pick<
  NewDeviceCode,
  "applicationId" | "scopes" | "preselectedOrganizationId" | "requestIp" | "requestUserAgent"
>;

export interface NewCodes {
  deviceCode: string;
  userCode: string;
}

/** Issues a device code and a user code for each request, in one transaction. */
export async function commitNewCodes(services: Services, requests: CodeRequest[]): Promise<NewCodes[]> {
  for (let tries = 1; ; tries++) {
    const drawn = requests.map((request) => drawCodes(services, request));
    try {
      await services.db.transaction((tx) =>
        insertPending(
          tx,
          drawn.map(({ row }) => row),
        ),
      );
      return drawn;
    } catch (error) {
      if (!isUniqueViolation(error) || tries === maxTries) throw error;
    }
  }
}

function drawCodes(
  { clock, cipher, config }: Services,
  request: CodeRequest,
): NewCodes & { row: NewDeviceCode } {
  const now = clock.now();
  const deviceCode = issueToken("deviceCode");
  const userCode = newUserCode();
  const row = {
    ...request,
    id: newId(now),
    deviceCodeHash: hashToken(deviceCode),
    userCodeMac: cipher.macs(userCode)[0] as string,
    createdAt: now,
    expiresAt: new Date(now.getTime() + config.deviceCodeSeconds * secondMs),
  };
  return { deviceCode, userCode, row };
}

/** Finds the organization to preselect. The id takes precedence; unknown ones are ignored. */
export async function findPreselectedId(
  { db }: Services,
  slug: string | undefined,
  organizationId: string | undefined,
): Promise<string | null> {
  const id = organizationId?.toLowerCase();
  const byId = id !== undefined && isId(id) ? await findOrganizationById(db, id) : undefined;
  const found = byId ?? (slug && !slug.includes("\0") ? await findOrganization(db, slug) : undefined);
  return found?.id ?? null;
}
