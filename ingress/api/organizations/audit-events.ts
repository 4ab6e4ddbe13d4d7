import { z } from "zod";
import { auditSubjectTypes } from "../../../shared/accounts/audit.ts";
import { findAuditEvent, listAuditPage } from "../../../shared/accounts/audit-store.ts";
import { isId } from "../../../shared/ids.ts";
import { patterns } from "../../../shared/paths.ts";
import { notFound } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import { readCursorPage } from "../../http/cursor-pager.ts";
import { type Operation, operation } from "../../operations/operation.ts";
import { choiceFilter, readFilters, textFilter, timeFilter, toDate } from "../filters.ts";
import { auditEventSchema, presentAuditEvent } from "../json/audit-event.ts";
import { cursorPageSchema, cursorQuery, presentCursorPage } from "../json/list.ts";

const filters = {
  actor_id: z
    .uuid({ error: "actor_id must be an id" })
    .optional()
    .meta({ description: "The user who acted" }),
  action: textFilter("action", "As in the entries: updated"),
  subject_type: choiceFilter("subject_type", auditSubjectTypes, "The kind of thing that was acted on"),
  subject_name: textFilter("subject_name", "A label, key, slug or email address, as it was"),
  from: timeFilter("from"),
  to: timeFilter("to"),
};

const reading = {
  tag: "Organizations",
  scope: "read_audit_events" as const,
  needsAdmin: true,
  methods: ["GET"] as ["GET"],
};

export function auditOperations({ db, config }: Services): Operation[] {
  return [
    operation({
      ...reading,
      path: patterns.auditEvents,
      id: "listAuditEvents",
      summary: "The audit log of an organization, newest first",
      query: { ...cursorQuery, ...filters },
      refusals: { 422: ["Validation failed: …"] },
      success: { status: 200, schema: cursorPageSchema(auditEventSchema), description: "A page of entries" },
      run: async ({ event, caller }) => {
        const page = readCursorPage(event);
        const { actor_id, action, subject_type, subject_name, from, to } = readFilters(event, filters);
        const filter = {
          organizationId: caller.organization.id,
          action,
          actorId: actor_id?.toLowerCase(),
          subjectType: subject_type,
          subject: subject_name,
          from: toDate(from),
          to: toDate(to),
        };
        const found = await listAuditPage(db, filter, page);
        const rows = found.map(presentAuditEvent);
        return presentCursorPage(event, page, rows, { base: config.baseUrl, present: (row) => row });
      },
    }),
    operation({
      ...reading,
      path: patterns.auditEvent,
      id: "getAuditEvent",
      summary: "An entry of the audit log",
      success: { status: 200, schema: auditEventSchema, description: "The entry" },
      run: async ({ caller, parameter }) => {
        const id = parameter("event");
        const found = isId(id) ? await findAuditEvent(db, caller.organization.id, id) : undefined;
        if (!found) throw notFound("audit event");
        return presentAuditEvent(found);
      },
    }),
  ];
}
