import type { Tx } from "../db/database.ts";
import { unprocessable } from "../refusal.ts";
import type { Config } from "../settings/config.ts";
import { stored } from "../sharing/bounds.ts";
import { roomProblems } from "../sharing/room.ts";
import type { Role } from "../vocabulary.ts";
import { countMembers, insertMember } from "./member-store.ts";
import { lockOrganization } from "./organization-store.ts";

/**
 * Makes a user a member. Locks the organization.
 * @throws Refusal 422 if it may have no more members
 */
export async function joinOrganization(
  config: Config,
  tx: Tx,
  member: { organizationId: string; userId: string; role: Role; createdAt: Date },
): Promise<void> {
  const { organizationId } = member;
  await lockOrganization(tx, organizationId);
  const full = await roomProblems(config, stored.members, (limit) => countMembers(tx, organizationId, limit));
  if (full.length > 0) throw unprocessable(...full);
  await insertMember(tx, member);
}
