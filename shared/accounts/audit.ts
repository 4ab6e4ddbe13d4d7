import type { Tx } from "../db/database.ts";
import { newId } from "../ids.ts";
import { afterDays, expiring } from "../retention/expiring.ts";
import type { AuditChange } from "../vocabulary.ts";
import { type AuditEvent, deleteAuditEventsBefore, insertAuditEvents } from "./audit-store.ts";
import type { Organization } from "./organization-store.ts";

export interface Actor {
  organization: Organization;
  userId: string;
  /** The description of the access token that asks. Absent: none does. */
  token?: string;
}

type AuditActor = Pick<Actor, "userId" | "token"> & { organization: Pick<Organization, "id"> };

export const auditSubjectTypes = [
  "cluster",
  "queue",
  "pipeline",
  "build",
  "trigger",
  "schedule",
  "agent",
  "agent_token",
  "secret",
  "repository_connection",
  "notification_service",
  "application",
  "access_token",
  "grant",
  "user",
  "member",
  "invitation",
  "organization",
] as const;

export interface AuditSubject {
  type: (typeof auditSubjectTypes)[number];
  id: string;
  /** A label, key, slug or email address. Never a secret. */
  name: string;
}

/**
 * Writes in the transaction that makes the change.
 * @param action past tense: `created`, `set the password of`
 */
export async function audit(
  tx: Tx,
  actor: AuditActor,
  action: string,
  subject: AuditSubject,
  changes: AuditChange[] = [],
): Promise<void> {
  await auditAll(tx, action, [{ actor, subject, changes }]);
}

export async function auditAll(
  tx: Tx,
  action: string,
  acts: { actor: AuditActor; subject: AuditSubject; changes?: AuditChange[] }[],
): Promise<void> {
  const createdAt = tx.now;
  const events = acts.map(
    ({ actor, subject, changes = [] }): AuditEvent => ({
      id: newId(createdAt),
      organizationId: actor.organization.id,
      actorId: actor.userId,
      action,
      subjectType: subject.type,
      subjectId: subject.id,
      subject: subject.name,
      changes: changes.length > 0 ? changes : null,
      token: actor.token ?? null,
      createdAt,
    }),
  );
  await insertAuditEvents(tx, events);
}

export const oldAuditEvents = expiring(
  "auditEvents",
  afterDays("auditRetentionDays"),
  deleteAuditEventsBefore,
);
