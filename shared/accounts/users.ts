import { z } from "zod";
import { hashPassword } from "../crypto/passwords.ts";
import type { Db, Tx } from "../db/database.ts";
import { newId } from "../ids.ts";
import { notFound, validationFailed } from "../refusal.ts";
import type { Services } from "../runtime/services.ts";
import type { Role } from "../vocabulary.ts";
import { insertMember } from "./member-store.ts";
import { nameProblems, requireOrganization } from "./organizations.ts";
import { deleteSessionsOfUser } from "./session-store.ts";
import { deactivateIfActive, findUser, insertUser, setPasswordHash, type User } from "./user-store.ts";

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

/** A person: what is no organization's built-in Operator, who never signs in and is a member of nothing. */
export async function requireUser(db: Db | Tx, email: string): Promise<User> {
  const user = await findUser(db, email.trim().toLowerCase());
  if (!user || user.operatorOfId !== null) throw notFound("user");
  return user;
}
