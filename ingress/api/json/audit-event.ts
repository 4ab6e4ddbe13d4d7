import { z } from "zod";
import { auditSubjectTypes } from "../../../shared/accounts/audit.ts";
import type { AuditEvent } from "../../../shared/accounts/audit-store.ts";
import * as field from "../../../shared/presenters/fields.ts";

const value = z.union([z.string(), z.number(), z.boolean(), z.null()]).optional();

export const auditEventSchema = z
  .object({
    id: field.id,
    occurred_at: field.timestamp,
    actor: z.object({ id: field.id, name: z.string() }),
    action: z.string().meta({ description: "Past tense: created, updated, deleted, …" }),
    subject: z.object({
      type: z.enum(auditSubjectTypes),
      id: field.id,
      name: z.string().meta({ description: "A label, key, slug or email address, as it was" }),
    }),
    changes: z
      .array(z.object({ field: z.string(), before: value, after: value }))
      .meta({ description: "Of an update. Secret and long members have no values" }),
  })
  .meta({ id: "AuditEvent" });

export function presentAuditEvent({ event, actor }: { event: AuditEvent; actor: string }) {
  return {
    id: event.id,
    occurred_at: event.createdAt,
    actor: { id: event.actorId, name: actor },
    action: event.action,
    subject: { type: event.subjectType, id: event.subjectId, name: event.subject },
    changes: (event.changes ?? []).map(({ difference: _, ...change }) => change),
  };
}
