import type { Tx } from "../db/database.ts";
import { inBatches } from "../db/in-batches.ts";
import { newId } from "../ids.ts";
import type { Services } from "../runtime/services.ts";
import { deleteAuditEventsBefore, insertAuditEvent } from "./audit-store.ts";
import type { Organization } from "./store.ts";

/** Who does something, and in which organization. */
export interface Actor {
  organization: Organization;
  userId: string;
}

export interface Audited {
  organizationId: string;
  actorId: string;
  /** Past tense: `created`, `enabled`, `deleted`. */
  action: string;
  subjectType:
    | "cluster"
    | "queue"
    | "pipeline"
    | "build"
    | "trigger"
    | "access_token"
    | "grant"
    | "member"
    | "organization";
  subjectId: string;
  /** What people call it: a label, key, slug or address. Never a secret. */
  subject: string;
}

/** Write down who did what, in the transaction that does it. */
export async function recordAudit(tx: Tx, event: Audited, now: Date): Promise<void> {
  await insertAuditEvent(tx, { id: newId(now), ...event, createdAt: now });
}

/** The same, of something that an actor did. */
export async function recordAct(
  tx: Tx,
  { organization, userId }: Actor,
  act: Omit<Audited, "organizationId" | "actorId">,
  now: Date,
): Promise<void> {
  await recordAudit(tx, { organizationId: organization.id, actorId: userId, ...act }, now);
}

/** Forget entries past their retention. */
export async function purgeAuditEvents(services: Services): Promise<number> {
  const { db, clock, config } = services;
  const before = new Date(clock.now().getTime() - config.auditRetentionDays * 86_400_000);
  return inBatches(db, (tx, limit) => deleteAuditEventsBefore(tx, before, limit));
}
