import { listAuditEvents } from "../../accounts/audit-store.ts";
import type { Db } from "../../db/database.ts";
import type { Build } from "../rows/build-store.ts";

/** The newest changes of the pipeline that are looked at. */
const maxChanges = 50;

/** Says if somebody edited the steps of the pipeline after it made the build, as far as the audit log is kept. */
export async function haveStepsChanged(
  db: Db,
  { organizationId, pipelineId, createdAt }: Pick<Build, "organizationId" | "pipelineId" | "createdAt">,
): Promise<boolean> {
  const subjects = { types: ["pipeline"], ids: [pipelineId] };
  const from = new Date(createdAt.getTime() + 1);
  const entries = await listAuditEvents(db, { organizationId, subjects, from }, maxChanges);
  return entries.some(({ event }) => event.changes?.some(({ field }) => field === "steps"));
}
