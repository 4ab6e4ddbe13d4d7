import { auditSubjectTypes } from "../../../shared/accounts/audit.ts";
import type { AuditFilter } from "../../../shared/accounts/audit-store.ts";
import { findOperator, findUser } from "../../../shared/accounts/user-store.ts";
import type { Services } from "../../../shared/services/services.ts";
import type { SearchField } from "../search/form.tsx";
import { nobody, readDays, readSearch, requireKnown } from "../search/read.ts";
import type { MemberRequest } from "../ui/member-page.ts";

const names = ["actor", "action", "type", "name", "from", "to"] as const;
export const auditFields: SearchField[] = [
  { name: "actor", label: "Actor: email, me, or operator" },
  { name: "action", label: "Action, such as updated" },
  { name: "type", label: "Thing", options: auditSubjectTypes.map((type) => [type, type.replace("_", " ")]) },
  { name: "name", label: "Its name" },
  { name: "from", label: "From (UTC)", type: "date" },
  { name: "to", label: "To (UTC)", type: "date" },
];

/** Reads the address. @throws Refusal 422 */
export async function readAuditSearch(services: Services, request: MemberRequest) {
  const search = readSearch(request.event, names);
  requireKnown("Thing", search.type, auditSubjectTypes);
  const filter: AuditFilter = {
    organizationId: request.organization.id,
    actorId: search.actor ? await findActorId(services, request, search.actor) : undefined,
    action: search.action || undefined,
    subjectType: search.type || undefined,
    subject: search.name || undefined,
    ...readDays(search),
  };
  return { search, filter };
}

async function findActorId(
  { db }: Services,
  { user, organization }: MemberRequest,
  actor: string,
): Promise<string> {
  if (actor === "me") return user.id;
  const found = actor === "operator" ? await findOperator(db, organization.id) : await findUser(db, actor);
  return found?.id ?? nobody;
}
