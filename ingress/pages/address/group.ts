import { pathTo, patterns } from "../../../shared/paths.ts";
import type { MemberRequest } from "../ui/member-page.ts";

type OfOrganization = Pick<MemberRequest, "organization">;

export function groupsPath({ organization }: OfOrganization): string {
  return pathTo(patterns.groupsPage, { org: organization.slug });
}

export function groupPath({ organization }: OfOrganization, { id }: { id: string }): string {
  return pathTo(patterns.groupPage, { org: organization.slug, group: id });
}
