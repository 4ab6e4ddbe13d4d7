import { hashToken, issueToken, isWellFormedToken } from "../crypto/tokens.ts";
import type { Tx } from "../db/database.ts";
import { dayMs } from "../durations.ts";
import { isId } from "../ids.ts";
import { notFound, Refusal, unprocessable, validationFailed } from "../refusal.ts";
import { atOnce, expiring } from "../retention/expiring.ts";
import type { Services } from "../services/services.ts";
import { stored } from "../sharing/bounds.ts";
import { roomProblems } from "../sharing/room.ts";
import type { CallerNetworks } from "../sharing/shares.ts";
import { problemsOf, requiredText } from "../validation.ts";
import type { Role } from "../vocabulary.ts";
import { type Actor, audit } from "./audit.ts";
import {
  countOpenInvitations,
  deleteExpiredInvitations,
  deleteIfPresent,
  findInvitationById,
  findOpenInvitation,
  type Invitation,
  insertInvitation,
  takeIfOpen,
} from "./invitation-store.ts";
import { joinOrganization } from "./join.ts";
import { findRole } from "./member-store.ts";
import { lockOrganization } from "./organization-store.ts";
import { findUser, insertUser, type User } from "./user-store.ts";
import { type NewUser, prepareUser } from "./users.ts";

// open → used, revoked or expired: then its row is deleted. It is open only while its maker is an admin.

export const invited = requiredText("For", 255);
export const invitationDays = 7;
export const { "open invitations": maxOpenInvitations } = stored.invitations.max;

export interface NewInvitation {
  /** The form's id: a form sent twice creates one invitation. */
  id: string;
  /** The invited person, in the words of the admin. */
  recipient: string;
  role: Role;
}

/**
 * Returns the token of its link, of which only the hash is stored; undefined if the id exists already.
 * @throws Refusal 422
 */
export async function invite(
  { db, clock, config }: Services,
  actor: Actor,
  { id, recipient, role }: NewInvitation,
): Promise<{ token: string; expiresAt: Date } | undefined> {
  const problems = problemsOf(invited, recipient, "recipient");
  if (problems.length > 0) throw validationFailed(...problems);
  const now = clock.now();
  const organizationId = actor.organization.id;
  const token = issueToken("invitation");
  const expiresAt = new Date(now.getTime() + invitationDays * dayMs);
  return db.transaction(async (tx) => {
    await lockOrganization(tx, organizationId); // two requests at once are not one too many
    if (await findInvitationById(tx, id)) return undefined;
    const full = await roomProblems(config, stored.invitations, (limit) =>
      countOpenInvitations(tx, organizationId, { now, limit }),
    );
    if (full.length > 0) throw unprocessable(...full);
    const tokenHash = hashToken(token);
    const invitation = { id, organizationId, tokenHash, role, recipient, createdAt: now, expiresAt };
    await insertInvitation(tx, { ...invitation, createdById: actor.userId });
    await audit(tx, actor, `created, for a new ${role},`, subjectOf(invitation));
    return { token, expiresAt };
  });
}

/** @throws Refusal 404 */
export async function revokeInvitation({ db }: Services, actor: Actor, id: string): Promise<void> {
  await db.transaction(async (tx) => {
    const revoked = isId(id) ? await deleteIfPresent(tx, actor.organization.id, id) : undefined;
    if (!revoked) throw notFound("invitation");
    await audit(tx, actor, "revoked", subjectOf(revoked));
  });
}

/** @throws Refusal 404 if it is not open */
export async function requireOpenInvitation({ db, clock }: Services, token: string) {
  const isPossible = isWellFormedToken("invitation", token);
  const found = isPossible ? await findOpenInvitation(db, hashToken(token), clock.now()) : undefined;
  if (!found) throw invitationGone();
  return found;
}

/**
 * A user joins by a link.
 * @throws Refusal 404; 422 for a member, or if the organization may have no more: the link stays open
 */
export async function acceptInvitation(services: Services, token: string, user: User): Promise<void> {
  await services.db.transaction((tx) => join(services, tx, token, user));
}

/**
 * A new user joins by a link.
 * @returns undefined if the email address has a user already
 * @throws Refusal 404, 422, 429, 503
 */
export async function registerByInvitation(
  services: Services,
  token: string,
  input: NewUser,
  caller: CallerNetworks,
): Promise<User | undefined> {
  const user = await prepareUser(services, input, caller);
  return services.db.transaction(async (tx) => {
    if (await findUser(tx, user.email)) return undefined;
    await insertUser(tx, user);
    await join(services, tx, token, user);
    return user;
  });
}

async function join({ config }: Services, tx: Tx, token: string, user: User): Promise<void> {
  const taken = await takeIfOpen(tx, hashToken(token), tx.now);
  if (!taken) throw invitationGone();
  const { organizationId, role } = taken;
  if (await findRole(tx, organizationId, user.id))
    throw unprocessable({ field: "", message: "You are a member of this organization already" });
  await joinOrganization(config, tx, { organizationId, userId: user.id, role, createdAt: tx.now });
  const actor = { organization: { id: organizationId }, userId: user.id };
  await audit(tx, actor, `joined as ${role} by`, subjectOf(taken));
}

export const expiredInvitations = expiring("invitations", atOnce, deleteExpiredInvitations);

function invitationGone(): Refusal {
  return new Refusal(
    404,
    "This invitation is not open: it was used or revoked, its 7 days are over, or its maker is no longer an admin.",
  );
}

function subjectOf({ id, recipient }: Pick<Invitation, "id" | "recipient">) {
  return { type: "invitation", id, name: recipient } as const;
}
