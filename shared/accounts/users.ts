import { z } from "zod";
import { hashPassword } from "../crypto/passwords.ts";
import type { Db, Tx } from "../db/database.ts";
import { newId } from "../ids.ts";
import { notFound, Refusal, validationFailed } from "../refusal.ts";
import type { Services } from "../runtime/services.ts";
import type { Role } from "../vocabulary.ts";
import { revokeTokensOfMember } from "./access-token-store.ts";
import { audit } from "./audit.ts";
import { nameProblems, requireOperator, requireOrganization } from "./organizations.ts";
import { deleteSessionsOfUser } from "./session-store.ts";
import {
  deactivateIfActive,
  deleteMember,
  findRole,
  findUser,
  insertMember,
  insertUser,
  setPasswordHash,
  setRoleIfMember,
  type User,
} from "./store.ts";

const minPasswordLength = 10;
/** scrypt reads any length, but nobody types more. */
const maxPasswordLength = 1000;

/** Reasons why this cannot be a password. */
export function passwordProblems(password: string): string[] {
  if (password.length < minPasswordLength)
    return [`Password is too short (minimum is ${minPasswordLength} characters)`];
  return password.length > maxPasswordLength ? ["Password is too long (maximum is 1,000 characters)"] : [];
}

/**
 * A new user, a member of one organization.
 * @throws Refusal 404 for the organization, 422
 */
export async function createUser(
  services: Services,
  input: { email: string; name: string; password: string; organization: string; role: Role },
): Promise<User> {
  const email = input.email.trim().toLowerCase();
  const problems = [
    ...(z.email().safeParse(email).success ? [] : ["Email is not an email address"]),
    ...nameProblems(input.name),
    ...passwordProblems(input.password),
  ];
  if (problems.length > 0) throw validationFailed(...problems);

  const now = services.clock.now();
  const user: User = {
    id: newId(now),
    email,
    name: input.name,
    passwordHash: await hashPassword(input.password),
    operatorOfId: null,
    deactivatedAt: null,
    createdAt: now,
  };
  await services.db.transaction(async (tx) => {
    const organization = await requireOrganization(tx, input.organization);
    if (await findUser(tx, email)) throw validationFailed("Email has already been taken");
    await insertUser(tx, user);
    await insertMember(tx, {
      organizationId: organization.id,
      userId: user.id,
      role: input.role,
      createdAt: now,
    });
  });
  return user;
}

/**
 * A new password, set by the operator. It signs the user out everywhere.
 * @throws Refusal 404, 422
 */
export async function setPassword(services: Services, email: string, password: string): Promise<User> {
  const problems = passwordProblems(password);
  if (problems.length > 0) throw validationFailed(...problems);
  const passwordHash = await hashPassword(password);
  return services.db.transaction(async (tx) => {
    const user = await requireUser(tx, email);
    await setPasswordHash(tx, user.id, passwordHash);
    await deleteSessionsOfUser(tx, user.id);
    return user;
  });
}

/** From now on none of the user's tokens work and they cannot sign in. Users are never deleted. */
export async function deactivateUser(services: Services, email: string): Promise<User> {
  return services.db.transaction(async (tx) => {
    const user = await requireUser(tx, email);
    await deactivateIfActive(tx, user.id, services.clock.now());
    return user;
  });
}

export type Membership = { organization: string; email: string; role: Role };

/** @throws Refusal 404, 422 when the user is a member already */
export async function addMember(services: Services, input: Membership): Promise<Membership> {
  return changeMember(services, input, "added", async (tx, ids) => {
    if (await findRole(tx, ids.organizationId, ids.userId))
      throw validationFailed("User is already a member");
    await insertMember(tx, { ...ids, role: input.role, createdAt: services.clock.now() });
    return true;
  });
}

/** @throws Refusal 404 */
export async function updateMember(services: Services, input: Membership): Promise<Membership> {
  return changeMember(services, input, `made ${input.role}`, (tx, ids) =>
    setRoleIfMember(tx, ids.organizationId, ids.userId, input.role),
  );
}

/**
 * With the membership go all grants and tokens that the user had in the organization.
 * @throws Refusal 404
 */
export async function removeMember(services: Services, input: Omit<Membership, "role">): Promise<void> {
  await changeMember(services, input, "removed", async (tx, ids) => {
    // In this order: a token that is being made holds the membership, and is seen once that is ours.
    const wasMember = await deleteMember(tx, ids.organizationId, ids.userId);
    await revokeTokensOfMember(tx, ids.organizationId, ids.userId, services.clock.now());
    return wasMember;
  });
}

async function changeMember<T extends Omit<Membership, "role">>(
  services: Services,
  input: T,
  action: string,
  change: (tx: Tx, ids: { organizationId: string; userId: string }) => Promise<boolean>,
): Promise<T> {
  await services.db.transaction(async (tx) => {
    const organization = await requireOrganization(tx, input.organization);
    const user = await requireUser(tx, input.email);
    const ids = { organizationId: organization.id, userId: user.id };
    if (!(await change(tx, ids))) throw new Refusal(404, "User is not a member of the organization");
    const operator = await requireOperator(tx, organization);
    await audit(tx, { organization, userId: operator.id }, action, {
      type: "member",
      id: user.id,
      name: user.email,
    });
  });
  return input;
}

/** A person: what is no organization's built-in Operator, who never signs in and is a member of nothing. */
export async function requireUser(db: Db | Tx, email: string): Promise<User> {
  const user = await findUser(db, email.trim().toLowerCase());
  if (!user || user.operatorOfId !== null) throw notFound("user");
  return user;
}
