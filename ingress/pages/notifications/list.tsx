import { listFailingServices } from "../../../shared/notifications/failing.ts";
import { secretOf, titleOfService } from "../../../shared/notifications/notification-services.ts";
import {
  listNotificationServicesPage,
  type NotificationService,
} from "../../../shared/notifications/store.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/services/services.ts";
import { readPageOf, readWithin } from "../../http/number-pager.ts";
import { State } from "../states/state.tsx";
import { LinkButton } from "../ui/form.tsx";
import { adminPage, type MemberRequest } from "../ui/member-page.ts";
import { NumberPager } from "../ui/pager.tsx";
import { EntryList } from "../ui/tables.tsx";
import { Age } from "../ui/times.tsx";
import { servicePath } from "./address.ts";
import { providerName, stateOfService, targetInWords } from "./words.ts";

const perPage = 30;

/** GET …/services, for admins. */
export const servicesPage = adminPage(async (services, request) => {
  const { slug: org, id: organizationId } = request.organization;
  const list = await readWithin(readPageOf(request.event, perPage), (page) =>
    listNotificationServicesPage(services.db, organizationId, page),
  );
  const failing = await listFailingServices(services, organizationId, list.rows);
  return {
    title: "Notification services",
    section: "settings",
    content: (
      <>
        <div class="heading">
          <h1>Notification services</h1>
          <p class="actions">
            <LinkButton href={pathTo(patterns.newServicePage, { org })} text="New service" />
          </p>
        </div>
        <p>A notification service tells a program, a chat or an address of builds, jobs and agents.</p>
        <EntryList rows={list.rows} empty="No notification service yet.">
          {(service) => (
            <Entry
              key={service.id}
              service={service}
              failingSince={failing.get(service.id)?.since}
              services={services}
              request={request}
            />
          )}
        </EntryList>
        <NumberPager list={list} path={pathTo(patterns.servicesPage, { org })} />
      </>
    ),
  };
});

function Entry({
  service,
  failingSince,
  services,
  request,
}: {
  service: NotificationService;
  failingSince: Date | undefined;
  services: Services;
  request: MemberRequest;
}) {
  return (
    <li class="entry">
      <div>
        <h2>
          <a href={servicePath(request, service)}>{titleOfService(service)}</a>
        </h2>
        <p class="quiet">
          {providerName(service.provider)}: {targetInWords(service, secretOf(services, service))}
        </p>
        {failingSince && (
          <p>
            It has failed for <Age from={failingSince} />.
          </p>
        )}
      </div>
      <State state={stateOfService(service, failingSince)} />
    </li>
  );
}
