import { nanoid } from "nanoid";
import { auditAsOperator, nameProblems } from "../accounts/organizations.ts";
import { hashToken, issueToken } from "../crypto/tokens.ts";
import type { Tx } from "../db/database.ts";
import { newId } from "../ids.ts";
import { notFound, type Problem, Refusal, validationFailed } from "../refusal.ts";
import type { Services } from "../services/services.ts";
import {
  type Application,
  findApplication,
  insertApplication,
  updateApplication,
} from "./application-store.ts";
import { listOrganizationIdsOfGrants } from "./grant-store.ts";

const clientIdPattern = /^[A-Za-z0-9._-]{1,100}$/;
const defaultAccessTokenMinutes = 60;

export interface NewApplication {
  name: string;
  /** Default: generated. */
  clientId?: string | undefined;
  confidential: boolean;
  deviceFlow: boolean;
  /** Access tokens then expire after an hour by default. */
  refreshTokens: boolean;
  /** Default without refresh tokens: access tokens do not expire. */
  accessTokenMinutes?: number | undefined;
}

/**
 * Registers an OAuth client. Writes no audit entry: entries belong to an organization, and none uses it yet.
 * @returns also the secret of a confidential client, which is not stored
 * @throws Refusal 422
 */
export async function createApplication(
  services: Services,
  input: NewApplication,
): Promise<{ application: Application; secret: string | undefined }> {
  const clientId = input.clientId ?? nanoid();
  const problems = [...nameProblems(input.name), ...clientIdProblems(clientId)];
  if (problems.length > 0) throw validationFailed(...problems);

  const now = services.clock.now();
  const secret = input.confidential ? issueToken("clientSecret") : undefined;
  const application: Application = {
    id: newId(now),
    clientId,
    name: input.name,
    secretHash: secret === undefined ? null : hashToken(secret),
    deviceFlow: input.deviceFlow,
    refreshTokens: input.refreshTokens,
    accessTokenMinutes: input.accessTokenMinutes ?? (input.refreshTokens ? defaultAccessTokenMinutes : null),
    disabledAt: null,
    createdAt: now,
  };
  await services.db.transaction(async (tx) => {
    if (await findApplication(tx, clientId))
      throw validationFailed({ field: "client_id", message: "Client id has already been taken" });
    await insertApplication(tx, application);
  });
  return { application, secret };
}

/**
 * Refuses the client and its tokens until it is enabled again.
 * @throws Refusal 404
 */
export function disableApplication(services: Services, clientId: string): Promise<Application> {
  return setDisabledAt(services, clientId, services.clock.now());
}

/** @throws Refusal 404 */
export function enableApplication(services: Services, clientId: string): Promise<Application> {
  return setDisabledAt(services, clientId, null);
}

/**
 * Replaces the secret of a confidential client. The previous one stops working at once.
 * @returns the secret, which is not stored
 * @throws Refusal 404; 422 for a public client
 */
export async function rotateSecret(services: Services, clientId: string): Promise<string> {
  const secret = issueToken("clientSecret");
  await services.db.transaction(async (tx) => {
    const application = await findApplication(tx, clientId);
    if (!application) throw notFound(`application "${clientId}"`);
    if (application.secretHash === null)
      throw new Refusal(422, "The application is public: it has no secret");
    await updateApplication(tx, clientId, { secretHash: hashToken(secret) });
    await auditApplication(tx, application, "rotated the secret of");
  });
  return secret;
}

/** Does not look up malformed client ids. */
export async function findEnabledApplication(
  { db }: Pick<Services, "db">,
  clientId: string,
): Promise<Application | undefined> {
  if (!clientIdPattern.test(clientId)) return undefined;
  const application = await findApplication(db, clientId);
  return application?.disabledAt === null ? application : undefined;
}

function clientIdProblems(clientId: string): Problem[] {
  if (clientIdPattern.test(clientId)) return [];
  const message = "Client id can only be 1 to 100 letters, numbers, dots, hyphens and underscores";
  return [{ field: "client_id", message }];
}

async function setDisabledAt(
  services: Services,
  clientId: string,
  disabledAt: Date | null,
): Promise<Application> {
  return services.db.transaction(async (tx) => {
    const updated = await updateApplication(tx, clientId, { disabledAt });
    if (!updated) throw notFound(`application "${clientId}"`);
    await auditApplication(tx, updated, disabledAt === null ? "enabled" : "disabled");
    return updated;
  });
}

/** Writes an entry in each organization with grants of the application: the application belongs to none. */
async function auditApplication(tx: Tx, { id, name }: Application, action: string): Promise<void> {
  for (const organizationId of await listOrganizationIdsOfGrants(tx, id)) {
    await auditAsOperator(tx, organizationId, action, { type: "application", id, name });
  }
}
