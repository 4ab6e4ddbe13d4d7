import { z } from "zod";
import { operatorNetworks } from "../crypto/passwords.ts";
import type { Db, Tx } from "../db/database.ts";
import { newId } from "../ids.ts";
import { notFound, type Problem, validationFailed } from "../refusal.ts";
import type { Services } from "../services/services.ts";
import type { CallerNetworks } from "../sharing/shares.ts";
import type { Role } from "../vocabulary.ts";
import { joinOrganization } from "./join.ts";
import { listMemberships } from "./member-store.ts";
import { auditAsOperator, nameProblems, requireOrganization } from "./organizations.ts";
import { deleteSessionsOfUser } from "./session-store.ts";
import {
  deactivateIfActive,
  findUser,
  insertUser,
  normalizeEmail,
  setPasswordHash,
  setShortcuts,
  type User,
} from "./user-store.ts";

export const minPasswordLength = 10;
/** scrypt accepts any length. */
const maxPasswordLength = 1000;

/** RFC 5321 §4.5.3.1.3 */
const maxEmailLength = 254;

export function passwordProblems(password: string): Problem[] {
  if (password.length < minPasswordLength)
    return [
      { field: "password", message: `Password is too short (minimum is ${minPasswordLength} characters)` },
    ];
  if (password.length <= maxPasswordLength) return [];
  return [{ field: "password", message: "Password is too long (maximum is 1,000 characters)" }];
}

export interface NewUser {
  email: string;
  name: string;
  password: string;
}

/**
 * Checks and hashes. Takes a slot for the password.
 * @throws Refusal 422, 429, 503
 */
export async function prepareUser(
  { passwords, clock }: Services,
  { name, password, ...input }: NewUser,
  caller: CallerNetworks,
): Promise<User> {
  const email = normalizeEmail(input.email);
  const problems = [...emailProblems(email), ...nameProblems(name), ...passwordProblems(password)];
  if (problems.length > 0) throw validationFailed(...problems);
  const now = clock.now();
  return {
    id: newId(now),
    email,
    name,
    passwordHash: await passwords.hash(password, caller),
    operatorOfId: null,
    deactivatedAt: null,
    hasShortcuts: true,
    createdAt: now,
  };
}

/** @throws Refusal 404 for the organization, 422 */
export async function createUser(
  services: Services,
  input: NewUser & { organization: string; role: Role },
): Promise<User> {
  const user = await prepareUser(services, input, operatorNetworks);
  await services.db.transaction(async (tx) => {
    const organization = await requireOrganization(tx, input.organization);
    if (await findUser(tx, user.email))
      throw validationFailed({ field: "email", message: "Email has already been taken" });
    await insertUser(tx, user);
    const ids = { organizationId: organization.id, userId: user.id };
    await joinOrganization(services.config, tx, { ...ids, role: input.role, createdAt: user.createdAt });
    await auditUser(tx, user, "created");
  });
  return user;
}

/**
 * Ends the user's sessions.
 * @throws Refusal 404, 422
 */
export async function setPassword(services: Services, email: string, password: string): Promise<User> {
  const problems = passwordProblems(password);
  if (problems.length > 0) throw validationFailed(...problems);
  const passwordHash = await services.passwords.hash(password, operatorNetworks);
  const changed = await services.db.transaction(async (tx) => {
    const user = await requireUser(tx, email);
    await setPasswordHash(tx, user.id, passwordHash);
    await deleteSessionsOfUser(tx, user.id);
    await auditUser(tx, user, "set the password of");
    return user;
  });
  publishAccessEnd(services, changed.id);
  return changed;
}

/**
 * Ends all access of a user. Users are never deleted.
 * @throws Refusal 404
 */
export async function deactivateUser(services: Services, email: string): Promise<User> {
  const deactivated = await services.db.transaction(async (tx) => {
    const user = await requireUser(tx, email);
    if (await deactivateIfActive(tx, user.id, services.clock.now())) await auditUser(tx, user, "deactivated");
    return user;
  });
  publishAccessEnd(services, deactivated.id);
  return deactivated;
}

/** Event streams of the user end without their session or membership. */
export function publishAccessEnd({ events }: Services, userId: string | undefined): void {
  if (userId !== undefined) events.publish([`user:${userId}`]);
}

/**
 * Finds no built-in Operator, which never signs in.
 * @throws Refusal 404
 */
export async function requireUser(db: Db | Tx, email: string): Promise<User> {
  const user = await findUser(db, email);
  if (!user || user.operatorOfId !== null) throw notFound(`user "${email}"`);
  return user;
}

/** Addresses of `.invalid` belong to the built-in Operators of present and future organizations. */
function emailProblems(email: string): Problem[] {
  if (z.email().max(maxEmailLength).safeParse(email).success && !email.endsWith(".invalid")) return [];
  return [{ field: "email", message: "Email is not an email address" }];
}

/** Writes an entry in each organization of the user. */
async function auditUser(tx: Tx, user: User, action: string): Promise<void> {
  for (const { organization } of await listMemberships(tx, user.id)) {
    await auditAsOperator(tx, organization.id, action, { type: "user", id: user.id, name: user.email });
  }
}

/** A user chooses if single letters are shortcuts on pages. */
export async function chooseShortcuts({ db }: Services, userId: string, wanted: boolean): Promise<void> {
  await db.transaction((tx) => setShortcuts(tx, userId, wanted));
}
