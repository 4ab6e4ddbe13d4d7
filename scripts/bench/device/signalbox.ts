import { insertMember } from "../../../shared/accounts/member-store.ts";
import { createOrganization } from "../../../shared/accounts/organizations.ts";
import { findOperator } from "../../../shared/accounts/user-store.ts";
import { hashToken, issueToken } from "../../../shared/crypto/tokens.ts";
import type { DeviceCode } from "../../../shared/device/store.ts";
import { newUserCode } from "../../../shared/device/user-code.ts";
import { newId } from "../../../shared/ids.ts";
import { createApplication } from "../../../shared/oauth/applications.ts";
import { patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/runtime/services.ts";
import { createDatabase, findPostgres } from "../databases.ts";
import { untilListening } from "../ports.ts";
import type { ScratchRedis } from "../redis.ts";
import { pidsOf, type Scratch } from "../scratch.ts";
import { install, withServices } from "../signalbox.ts";
import { client, deviceCodeSeconds, type Progress, type Server } from "./contestants.ts";

/** Unreachable: the bench measures work, not limits. */
const perMinute = "1000000000";

export async function startSignalbox(
  scratch: Scratch,
  redis: ScratchRedis,
  postgres: string | undefined,
): Promise<Omit<Server, "name">> {
  const installation = await install(scratch, redis, {
    DATABASE_URL: await createDatabase(scratch, "device", postgres),
    DEVICE_AUTHORIZATIONS_PER_MINUTE: perMinute,
    DEVICE_AUTHORIZATIONS_PER_MINUTE_AND_CLIENT: perMinute,
    DEVICE_CODE_SECONDS: String(deviceCodeSeconds),
  });
  const { port, env } = installation;
  const seed = await withServices(installation, async (services) => {
    const { id } = await createOrganization(services, { slug: "bench", name: "Bench" });
    return createSeed(services, id);
  });
  const server = scratch.startScript("ingress", "ingress/main.ts", { env });
  await untilListening(port);
  return {
    pids: { ...pidsOf({ server, Redis: redis }), ...(await findPostgres(postgres)) },
    authorizationUrl: `http://127.0.0.1:${port}${patterns.deviceAuthorization}`,
    tokenUrl: `http://127.0.0.1:${port}${patterns.token}`,
    makeCodes: (progress, count) =>
      withServices(installation, (services) => makeCodes(services, seed, { progress, count })),
  };
}

export interface Seed {
  applicationId: string;
  organizationId: string;
  userId: string;
}

/** Registers the client, and makes the Operator a member, who approves. */
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
  const now = clock.now();
  const deviceCodes = Array.from({ length: count }, () => issueToken("deviceCode"));
  const approval = {
    claimedById: seed.userId,
    decidedAt: now,
    organizationId: seed.organizationId,
    grantedScopes: client.scopes,
    approvedUserAgent: "bench",
    approvedIp: "127.0.0.1",
  };
  const undecided = {
    claimedById: null,
    decidedAt: null,
    organizationId: null,
    grantedScopes: null,
    approvedUserAgent: null,
    approvedIp: null,
  };
  const rows = deviceCodes.map(
    (deviceCode): DeviceCode => ({
      id: newId(now),
      deviceCodeHash: hashToken(deviceCode),
      userCodeMac: cipher.macs(newUserCode())[0] as string,
      applicationId: seed.applicationId,
      scopes: client.scopes,
      state: progress,
      preselectedOrganizationId: null,
      requestIp: "127.0.0.1",
      requestUserAgent: null,
      createdAt: now,
      expiresAt: new Date(now.getTime() + deviceCodeSeconds * 1000),
      cameByLink: false,
      ...(progress === "approved" ? approval : undecided),
    }),
  );
  await db.transaction((tx) => tx.insertMany(tx.tables.deviceCodes, rows));
  return deviceCodes;
}
