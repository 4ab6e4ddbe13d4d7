import type { Tx } from "../db/database.ts";
import { notFound, Refusal, unprocessable, validationFailed } from "../refusal.ts";
import type { Services } from "../services/services.ts";
import type { BuildMails, Role } from "../vocabulary.ts";
import { revokeTokensOfMember } from "./access-token-store.ts";
import { type Actor, audit } from "./audit.ts";
import { joinOrganization } from "./join.ts";
import {
  deleteMember,
  findRole,
  hasOtherAdmin,
  setBuildMailsOfMember,
  setRoleIfMember,
} from "./member-store.ts";
import { lockOrganization } from "./organization-store.ts";
import { auditAsOperator, requireOrganization } from "./organizations.ts";
import { publishAccessEnd, requireUser } from "./users.ts";

export type Membership = { organization: string; email: string; role: Role };

/** @throws Refusal 404; 422 if already a member, or if the organization may have no more */
export async function addMember(services: Services, input: Membership): Promise<Membership> {
  return changeMember(services, input, "added", async (tx, ids) => {
    if (await findRole(tx, ids.organizationId, ids.userId))
      throw validationFailed({ field: "email", message: "User is already a member" });
    await joinOrganization(services.config, tx, {
      ...ids,
      role: input.role,
      createdAt: services.clock.now(),
    });
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
 * Also deletes their grants and tokens.
 * @throws Refusal 404
 */
export async function removeMember(services: Services, input: Omit<Membership, "role">): Promise<void> {
  let userId: string | undefined;
  await changeMember(services, input, "removed", (tx, ids) => {
    userId = ids.userId;
    return endMembership(tx, ids);
  });
  publishAccessEnd(services, userId);
}

export interface MemberOfPage {
  id: string;
  email: string;
}

/**
 * An admin changes a role.
 * @throws Refusal 404; 422 for the last admin
 */
export async function setRole(
  services: Services,
  actor: Actor,
  { id, email }: MemberOfPage,
  role: Role,
): Promise<void> {
  const { organization } = actor;
  await services.db.transaction(async (tx) => {
    await lockOrganization(tx, organization.id);
    if (role !== "admin") await requireOtherAdmin(tx, organization.id, id);
    if (!(await setRoleIfMember(tx, organization.id, id, role))) throw notFound("member");
    await audit(tx, actor, `made ${role}`, { type: "member", id, name: email });
  });
}

/**
 * An admin removes a member, and with it the member's grants and tokens.
 * @throws Refusal 404; 422 for the last admin
 */
export async function expelMember(
  services: Services,
  actor: Actor,
  { id, email }: MemberOfPage,
): Promise<void> {
  const { organization } = actor;
  await services.db.transaction(async (tx) => {
    await lockOrganization(tx, organization.id);
    await requireOtherAdmin(tx, organization.id, id);
    if (!(await endMembership(tx, { organizationId: organization.id, userId: id }))) throw notFound("member");
    await audit(tx, actor, "removed", { type: "member", id, name: email });
  });
  publishAccessEnd(services, id);
}

/** Without an admin, nobody could make another one in the browser. @throws Refusal 422 */
async function requireOtherAdmin(tx: Tx, organizationId: string, userId: string): Promise<void> {
  if (await hasOtherAdmin(tx, organizationId, userId)) return;
  if ((await findRole(tx, organizationId, userId)) !== "admin") return;
  throw unprocessable({ field: "", message: "The last admin stays: make somebody else an admin first" });
}

/** The membership goes first: creating a token locks it, so no new token escapes. */
async function endMembership(tx: Tx, { organizationId, userId }: { organizationId: string; userId: string }) {
  const wasMember = await deleteMember(tx, organizationId, userId);
  await revokeTokensOfMember(tx, organizationId, userId, tx.now);
  return wasMember;
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
    await auditAsOperator(tx, organization.id, action, { type: "member", id: user.id, name: user.email });
  });
  return input;
}

/** A member chooses of which of their own builds they get mail. */
export async function chooseBuildMails(
  { db }: Services,
  member: { organizationId: string; userId: string },
  choice: BuildMails,
): Promise<void> {
  await db.transaction((tx) => setBuildMailsOfMember(tx, member, choice));
}
