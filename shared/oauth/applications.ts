import { nanoid } from "nanoid";
import { nameProblems } from "../accounts/organizations.ts";
import { hashToken, issueToken } from "../crypto/tokens.ts";
import { newId } from "../ids.ts";
import { notFound, Refusal, validationFailed } from "../refusal.ts";
import type { Services } from "../runtime/services.ts";
import {
  type Application,
  findApplication,
  insertApplication,
  updateApplication,
} from "./application-store.ts";

const clientIdPattern = /^[A-Za-z0-9._-]{1,100}$/;
const defaultAccessTokenMinutes = 60;

export interface NewApplication {
  name: string;
  /** Absent: one is made up. */
  clientId?: string | undefined;
  confidential: boolean;
  deviceFlow: boolean;
  /** Whether it gets refresh tokens; its access tokens then live an hour unless told otherwise. */
  refreshTokens: boolean;
  /** How long access tokens live; absent, and without refresh tokens, they do not expire. */
  accessTokenMinutes?: number | undefined;
}

/**
 * Register an OAuth client.
 * @returns the application and, this once, the secret of a confidential one
 * @throws Refusal 422
 */
export async function createApplication(
  services: Services,
  input: NewApplication,
): Promise<{ application: Application; secret: string | undefined }> {
  const clientId = input.clientId ?? nanoid();
  const problems = [
    ...nameProblems(input.name),
    ...(clientIdPattern.test(clientId)
      ? []
      : ["Client id can only be 1 to 100 letters, numbers, dots, hyphens and underscores"]),
  ];
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
    if (await findApplication(tx, clientId)) throw validationFailed("Client id has already been taken");
    await insertApplication(tx, application);
  });
  return { application, secret };
}

/**
 * From the next request on the client is refused and its tokens do not work, until it is enabled again.
 * @throws Refusal 404
 */
export function disableApplication(services: Services, clientId: string): Promise<Application> {
  return change(services, clientId, { disabledAt: services.clock.now() });
}

/** @throws Refusal 404 */
export function enableApplication(services: Services, clientId: string): Promise<Application> {
  return change(services, clientId, { disabledAt: null });
}

/**
 * A new secret for a confidential client; the one before stops working at once.
 * @returns the secret, this once
 * @throws Refusal 404; 422 for a public client
 */
export async function rotateSecret(services: Services, clientId: string): Promise<string> {
  const secret = issueToken("clientSecret");
  await services.db.transaction(async (tx) => {
    const application = await findApplication(tx, clientId);
    if (!application) throw notFound("application");
    if (application.secretHash === null)
      throw new Refusal(422, "The application is public: it has no secret");
    await updateApplication(tx, clientId, { secretHash: hashToken(secret) });
  });
  return secret;
}

/** The application that a client id names, unless it is disabled. Ids that cannot be are not looked up. */
export async function findEnabledApplication(
  { db }: Pick<Services, "db">,
  clientId: string,
): Promise<Application | undefined> {
  if (!clientIdPattern.test(clientId)) return undefined;
  const application = await findApplication(db, clientId);
  return application?.disabledAt === null ? application : undefined;
}

async function change(
  services: Services,
  clientId: string,
  to: { disabledAt: Date | null },
): Promise<Application> {
  const updated = await services.db.transaction((tx) => updateApplication(tx, clientId, to));
  if (!updated) throw notFound("application");
  return updated;
}
