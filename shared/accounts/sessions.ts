import { inBatches } from "../db/in-batches.ts";
import type { Services } from "../services.ts";
import { hashToken, issueToken, isWellFormedToken } from "../tokens.ts";
import { hashPassword, matchesPassword } from "./passwords.ts";
import {
  deleteExpiredSessions,
  deleteSession,
  deleteSessionsOfUser,
  findSessionUser,
  findUser,
  insertSession,
  setPasswordHash,
  type User,
} from "./store.ts";
import { passwordProblems } from "./users.ts";

const dayMs = 86_400_000;

/** Hashed once: so that an unknown address takes as long to refuse as a wrong password. */
let nobodysPassword: Promise<string> | undefined;

/**
 * The user of this address and password; undefined when there is none, or none that may sign in. Which of the
 * two is wrong nobody learns, from the time it takes either.
 */
export async function findUserByPassword(
  { db }: Services,
  email: string,
  password: string,
): Promise<User | undefined> {
  nobodysPassword ??= hashPassword("nobody's");
  const user = await findUser(db, email.trim().toLowerCase());
  const matches = await matchesPassword(password, user?.passwordHash ?? (await nobodysPassword));
  return matches && user?.passwordHash && user.deactivatedAt === null ? user : undefined;
}

/**
 * A new session of the user. The session that the browser had before, if any, ends.
 * @returns the token for the browser's cookie
 */
export async function startSession(
  { db, clock, config }: Services,
  userId: string,
  formerToken: string | undefined,
): Promise<string> {
  const now = clock.now();
  const token = issueToken("session");
  await db.transaction(async (tx) => {
    if (formerToken) await deleteSession(tx, hashToken(formerToken));
    await insertSession(tx, {
      tokenHash: hashToken(token),
      userId,
      createdAt: now,
      expiresAt: new Date(now.getTime() + config.sessionDays * dayMs),
    });
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
 * A new password, chosen by the user. All sessions end; the caller starts a new one.
 * @returns `wrong` when the present password is not right, else what is the matter with the new one: nothing, when
 * it is changed
 */
export async function changePassword(
  services: Services,
  user: User,
  { present, wanted }: { present: string; wanted: string },
): Promise<"wrong" | string[]> {
  if (!(await matchesPassword(present, user.passwordHash ?? ""))) return "wrong";
  const problems = passwordProblems(wanted);
  if (problems.length > 0) return problems;
  const passwordHash = await hashPassword(wanted);
  await services.db.transaction(async (tx) => {
    await setPasswordHash(tx, user.id, passwordHash);
    await deleteSessionsOfUser(tx, user.id);
  });
  return [];
}

/** Forget sessions that have expired. */
export async function purgeSessions({ db, clock }: Services): Promise<number> {
  return inBatches(db, (tx, limit) => deleteExpiredSessions(tx, clock.now(), limit));
}
