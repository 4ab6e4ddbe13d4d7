import { hashPassword, matchesPassword, nobodysPassword } from "../crypto/passwords.ts";
import { hashToken, issueToken, isWellFormedToken } from "../crypto/tokens.ts";
import type { Tx } from "../db/database.ts";
import { purgeInBatches } from "../db/purge-in-batches.ts";
import type { Services } from "../runtime/services.ts";
import {
  deleteExpiredSessions,
  deleteSession,
  deleteSessionsOfUser,
  findSessionUser,
  insertSession,
} from "./session-store.ts";
import { findUser, lockIfPasswordIs, setPasswordHash, type User } from "./user-store.ts";
import { passwordProblems } from "./users.ts";

const dayMs = 86_400_000;

/**
 * The user of this address and password; undefined when there is none, or none that may sign in. Which of the
 * two is wrong nobody learns, from the time it takes either.
 */
export async function findUserByPassword(
  { db }: Services,
  email: string,
  password: string,
): Promise<User | undefined> {
  const user = await findUser(db, email.trim().toLowerCase());
  const matches = await matchesPassword(password, user?.passwordHash ?? nobodysPassword);
  return matches && user?.passwordHash && user.deactivatedAt === null ? user : undefined;
}

/**
 * A new session of a user whose password was right. The session that the browser had before, if any, ends.
 * @returns the token for the browser's cookie; undefined when the password was changed meanwhile
 */
export async function startSession(
  services: Services,
  user: User,
  formerToken: string,
): Promise<string | undefined> {
  return services.db.transaction(async (tx) => {
    if (!(await lockIfPasswordIs(tx, user))) return undefined;
    await deleteSession(tx, hashToken(formerToken));
    return storeSession(services, tx, user.id);
  });
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

/** Who is signed in with this token of a browser. */
export async function findSignedInUser({ db, clock }: Services, token: string): Promise<User | undefined> {
  if (!isWellFormedToken("session", token)) return undefined;
  return findSessionUser(db, hashToken(token), clock.now());
}

export async function endSession({ db }: Services, token: string): Promise<void> {
  await db.transaction((tx) => deleteSession(tx, hashToken(token)));
}

/**
 * A new password, chosen by the user. All sessions end.
 * @returns the token of a new session; or `wrong` when the present password is not right; or what is the matter
 * with the new one
 */
export async function changePassword(
  services: Services,
  user: User,
  { present, wanted }: { present: string; wanted: string },
): Promise<"wrong" | { problems: string[] } | { token: string }> {
  if (!(await matchesPassword(present, user.passwordHash ?? ""))) return "wrong";
  const problems = passwordProblems(wanted);
  if (problems.length > 0) return { problems };
  const passwordHash = await hashPassword(wanted);
  return services.db.transaction(async (tx) => {
    if (!(await lockIfPasswordIs(tx, user))) return "wrong";
    await setPasswordHash(tx, user.id, passwordHash);
    await deleteSessionsOfUser(tx, user.id);
    return { token: await storeSession(services, tx, user.id) };
  });
}

/** Forget sessions that have expired. */
export async function purgeSessions({ db, clock }: Services): Promise<number> {
  return purgeInBatches(db, (tx, limit) => deleteExpiredSessions(tx, clock.now(), limit));
}
