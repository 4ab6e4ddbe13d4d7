import type { Tx } from "../db/database.ts";
import { Refusal, validationFailed } from "../refusal.ts";
import type { Services } from "../runtime/services.ts";
import type { Role } from "../vocabulary.ts";
import { revokeTokensOfMember } from "./access-token-store.ts";
import { deleteMember, findRole, insertMember, setRoleIfMember } from "./member-store.ts";
import { auditAsOperator, requireOrganization } from "./organizations.ts";
import { requireUser } from "./users.ts";

export type Membership = { organization: string; email: string; role: Role };

/** @throws Refusal 404; 422 if already a member */
export async function addMember(services: Services, input: Membership): Promise<Membership> {
  return changeMember(services, input, "added", async (tx, ids) => {
    if (await findRole(tx, ids.organizationId, ids.userId))
      throw validationFailed({ field: "email", message: "User is already a member" });
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
 * Also deletes their grants and tokens.
 * @throws Refusal 404
 */
export async function removeMember(services: Services, input: Omit<Membership, "role">): Promise<void> {
  await changeMember(services, input, "removed", async (tx, ids) => {
    // First: creating a token locks the membership, so no new token escapes.
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
    await auditAsOperator(tx, organization.id, action, { type: "member", id: user.id, name: user.email });
  });
  return input;
}
