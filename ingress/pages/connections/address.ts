import { requireConnection } from "../../../shared/connections/connections.ts";
import type { Connection } from "../../../shared/connections/store.ts";
import { titleOfConnection } from "../../../shared/connections/types.ts";
import { type PatternWith, pathTo, patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/services/services.ts";
import type { MemberRequest } from "../ui/member-page.ts";
import { addCrumbs } from "../ui/page-context.ts";

/** Adds their list to the trail. */
export function addListCrumb({ organization, event }: MemberRequest): void {
  const { slug: org } = organization;
  addCrumbs(
    event,
    { text: "Settings", path: pathTo(patterns.settingsPage, { org }) },
    { text: "Repository connections", path: pathTo(patterns.connectionsPage, { org }), isList: true },
  );
}

/** @throws Refusal 404 */
export async function loadConnection({ db }: Services, request: MemberRequest): Promise<Connection> {
  addListCrumb(request);
  const { organization, parameter, event } = request;
  const connection = await requireConnection(db, organization.id, parameter("connection"));
  addCrumbs(event, { text: titleOfConnection(connection), path: connectionPath(request, connection) });
  return connection;
}

/** Default: the page of the connection. */
export function connectionPath(
  { organization }: Pick<MemberRequest, "organization">,
  { id }: Pick<Connection, "id">,
  pattern: PatternWith<"org" | "connection"> = patterns.connectionPage,
): string {
  return pathTo(pattern, { org: organization.slug, connection: id });
}
