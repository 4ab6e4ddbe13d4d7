import type { Tx } from "../db/database.ts";
import { purgeInBatches } from "../db/purge-in-batches.ts";
import { newId } from "../ids.ts";
import type { Services } from "../runtime/services.ts";
import { deleteAuditEventsBefore, insertAuditEvent } from "./audit-store.ts";
import type { Organization } from "./organization-store.ts";

/** Who does something, and in which organization. */
export interface Actor {
  organization: Organization;
  userId: string;
}

/** The thing that something was done to. */
export interface AuditSubject {
  type:
    | "cluster"
    | "queue"
    | "pipeline"
    | "build"
    | "trigger"
    | "application"
    | "access_token"
    | "grant"
    | "user"
    | "member"
    | "organization";
  id: string;
  /** What people call it: a label, key, slug or address. Never a secret. */
  name: string;
}

/**
 * Records who did what, in the transaction that does it.
 * @param action past tense: `created`, `enabled`, `deleted`
 */
export async function audit(
  tx: Tx,
  actor: { organization: Pick<Organization, "id">; userId: string },
  action: string,
  subject: AuditSubject,
): Promise<void> {
  await insertAuditEvent(tx, {
    id: newId(tx.now),
    organizationId: actor.organization.id,
    actorId: actor.userId,
    action,
    subjectType: subject.type,
    subjectId: subject.id,
    subject: subject.name,
    createdAt: tx.now,
  });
}

/** Forget entries past their retention. */
export async function purgeAuditEvents(services: Services): Promise<number> {
  const { db, clock, config } = services;
  const before = new Date(clock.now().getTime() - config.auditRetentionDays * 86_400_000);
  return purgeInBatches(db, (tx, limit) => deleteAuditEventsBefore(tx, before, limit));
}
