import { hashToken, issueToken, isWellFormedToken } from "../crypto/tokens.ts";
import type { Tx } from "../db/database.ts";
import { dayMs } from "../durations.ts";
import type { Problem } from "../refusal.ts";
import { atOnce, expiring } from "../retention/expiring.ts";
import type { Services } from "../services/services.ts";
import { stored } from "../sharing/bounds.ts";
import { maxOf } from "../sharing/room.ts";
import type { CallerNetworks } from "../sharing/shares.ts";
import { isKnownBrowser } from "./known-browser.ts";
import {
  deleteExpiredSessions,
  deleteOldestSessions,
  deleteSession,
  deleteSessionsOfUser,
  findSessionUser,
  insertSession,
} from "./session-store.ts";
import { findUser, lockIfPasswordIs, setPasswordHash, type User } from "./user-store.ts";
import { passwordProblems, publishAccessEnd } from "./users.ts";

/**
 * Takes equally long for an unknown address and a wrong password.
 * @param knownBrowser the browser's cookie of an earlier sign-in
 * @throws Refusal 429, 503
 */
export async function findUserByPassword(
  services: Services,
  { email, password, knownBrowser = "" }: { email: string; password: string; knownBrowser?: string },
  networks: CallerNetworks,
): Promise<User | undefined> {
  const { db, passwords } = services;
  const user = await findUser(db, email);
  const isKnown = isKnownBrowser(services, user, knownBrowser);
  const caller = { ...networks, knownUserId: isKnown ? user?.id : undefined };
  const matches = await passwords.matches(password, user?.passwordHash, caller);
  return matches && user?.passwordHash && user.deactivatedAt === null ? user : undefined;
}

/**
 * Ends the browser's previous session, and the oldest ones of a user that has as many as it may.
 * @returns the token for the cookie; undefined if the password has changed since its check
 */
export async function startSession(
  services: Services,
  user: User,
  previousToken: string,
): Promise<string | undefined> {
  const ended = new Set<string | undefined>();
  const token = await services.db.transaction(async (tx) => {
    ended.clear();
    if (!(await lockIfPasswordIs(tx, user))) return undefined;
    ended.add(await deleteSession(tx, hashToken(previousToken)));
    const kept = maxOf(services.config, stored.sessions) - 1;
    if (await deleteOldestSessions(tx, user.id, kept)) ended.add(user.id);
    return storeSession(services, tx, user.id);
  });
  for (const userId of ended) publishAccessEnd(services, userId);
  return token;
}

async function storeSession({ clock, config }: Services, tx: Tx, userId: string): Promise<string> {
  const now = clock.now();
  const token = issueToken("session");
  await insertSession(tx, {
    tokenHash: hashToken(token),
    userId,
    createdAt: now,
    expiresAt: new Date(now.getTime() + config.sessionDays * dayMs),
  });
  return token;
}

export async function findSignedInUser({ db, clock }: Services, token: string): Promise<User | undefined> {
  if (!isWellFormedToken("session", token)) return undefined;
  return findSessionUser(db, hashToken(token), clock.now());
}

export async function endSession(services: Services, token: string): Promise<void> {
  const userId = await services.db.transaction((tx) => deleteSession(tx, hashToken(token)));
  publishAccessEnd(services, userId);
}

/**
 * Ends the user's sessions.
 * @returns `wrong` if `current` is not the password
 * @throws Refusal 429, 503
 */
export async function changePassword(
  services: Services,
  user: User,
  { current, next }: { current: string; next: string },
  networks: CallerNetworks,
): Promise<"wrong" | { problems: Problem[] } | { token: string; user: User }> {
  const caller = { ...networks, knownUserId: user.id };
  if (!(await services.passwords.matches(current, user.passwordHash ?? "", caller))) return "wrong";
  const problems = passwordProblems(next);
  if (problems.length > 0) return { problems };
  const passwordHash = await services.passwords.hash(next, caller);
  const outcome = await services.db.transaction(async (tx) => {
    if (!(await lockIfPasswordIs(tx, user))) return "wrong";
    await setPasswordHash(tx, user.id, passwordHash);
    await deleteSessionsOfUser(tx, user.id);
    return { token: await storeSession(services, tx, user.id), user: { ...user, passwordHash } };
  });
  publishAccessEnd(services, user.id);
  return outcome;
}

export const expiredSessions = expiring("sessions", atOnce, deleteExpiredSessions);
