import {
  requireNotificationService,
  titleOfService,
} from "../../../shared/notifications/notification-services.ts";
import type { NotificationService } from "../../../shared/notifications/store.ts";
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
    { text: "Notification services", path: pathTo(patterns.servicesPage, { org }), isList: true },
  );
}

/** @throws Refusal 404 */
export async function loadService({ db }: Services, request: MemberRequest): Promise<NotificationService> {
  addListCrumb(request);
  const { organization, parameter, event } = request;
  const service = await requireNotificationService(db, organization.id, parameter("service"));
  addCrumbs(event, { text: titleOfService(service), path: servicePath(request, service) });
  return service;
}

/** Default: the page of the service. */
export function servicePath(
  { organization }: Pick<MemberRequest, "organization">,
  { id }: Pick<NotificationService, "id">,
  pattern: PatternWith<"org" | "service"> = patterns.servicePage,
): string {
  return pathTo(pattern, { org: organization.slug, service: id });
}
