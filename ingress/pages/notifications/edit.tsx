import { isId } from "../../../shared/ids.ts";
import { listFailingServices } from "../../../shared/notifications/failing.ts";
import { notificationServiceChange } from "../../../shared/notifications/members.ts";
import {
  deleteNotificationService,
  secretOf,
  sendAgain,
  setServiceEnabled,
  titleOfService,
  updateNotificationService,
} from "../../../shared/notifications/notification-services.ts";
import type { NotificationService } from "../../../shared/notifications/store.ts";
import { findMessageOfService, listMessagesOfService } from "../../../shared/outbox/sent-store.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { validationFailed } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import { toProblems } from "../../../shared/validation.ts";
import { confirmPage } from "../resources/confirm-page.tsx";
import { State } from "../states/state.tsx";
import { LinkButton, PostButton, PostForm } from "../ui/form.tsx";
import { adminAction, adminPage, type MemberRequest } from "../ui/member-page.ts";
import { narrowPage } from "../ui/narrow-page.tsx";
import { withNotice } from "../ui/notices.ts";
import type { PageContent } from "../ui/page.ts";
import { type FormProblems, tryForm } from "../ui/problems.ts";
import { Age } from "../ui/times.tsx";
import { loadService, servicePath } from "./address.ts";
import { bodyOfDraft, draftOfService, fieldNames, readService, type ServiceDraft } from "./draft.ts";
import { ServiceFields } from "./form.tsx";
import { Requests } from "./requests.tsx";
import { loadClusters, loadScopePipelines, scopeIdsOf } from "./scope.ts";
import { providerName, stateOfService } from "./words.ts";

const shownRequests = 20;

/** GET …/services/:service */
export const servicePage = adminPage(async (services, request) => {
  const service = await loadService(services, request);
  const pipelines = await loadScopePipelines(services, service);
  const token = service.provider === "webhook" ? secretOf(services, service) : undefined;
  return show(services, request, service, { draft: draftOfService(service, { pipelines, token }) });
});

/** POST …/services/:service */
export const saveService = adminAction(async (services, request, form) => {
  const service = await loadService(services, request);
  const draft = readService(service.provider, form);
  const outcome = await tryForm(async () => {
    const scopeIds = await scopeIdsOf(services, request, draft);
    const { data, error } = notificationServiceChange.safeParse(bodyOfDraft(draft, scopeIds, false));
    if (error) throw validationFailed(...toProblems(error));
    return updateNotificationService(services, request.actor, service, data);
  }, fieldNames);
  if ("problems" in outcome) return show(services, request, service, { draft, problems: outcome.problems });
  return withNotice(servicePath(request, service), "notification_service_saved");
});

/** POST …/services/:service/switch {enabled} */
export const switchService = adminAction(async (services, request, form) => {
  const service = await loadService(services, request);
  const enabled = form.get("enabled") === "1";
  await setServiceEnabled(services, request.actor, service, enabled);
  return withNotice(servicePath(request, service), enabled ? "service_enabled" : "service_disabled");
});

/** POST …/services/:service/requests/:message: sends a request once more. */
export const sendRequestAgain = adminAction(async (services, request) => {
  const service = await loadService(services, request);
  await sendAgain(services, service, request.parameter("message"));
  return withNotice(servicePath(request, service), "request_sent_again");
});

/** GET and POST …/services/:service/delete */
export const deleteServicePage = confirmPage({
  section: "settings",
  load: loadService,
  title: (service) => `Delete the notification service ${titleOfService(service)}?`,
  text: () => "It is told of nothing any more. What waits for it is not sent.",
  path: (request, service) => servicePath(request, service, patterns.deleteServicePage),
  back: (request, service) => servicePath(request, service),
  run: async (services, request, service) => {
    await deleteNotificationService(services, request.actor, service);
    const { slug: org } = request.organization;
    return withNotice(pathTo(patterns.servicesPage, { org }), "notification_service_deleted");
  },
});

async function show(
  services: Services,
  request: MemberRequest,
  service: NotificationService,
  { draft, problems }: { draft: ServiceDraft; problems?: FormProblems },
): Promise<PageContent> {
  const { organizationId, id: serviceId, provider, enabled } = service;
  const clusters = await loadClusters(services, request);
  const messages = await listMessagesOfService(services.db, serviceId, shownRequests);
  const id = request.event.url.searchParams.get("request") ?? "";
  const shown = isId(id) ? await findMessageOfService(services.db, { serviceId, id }) : undefined;
  const failing = (await listFailingServices(services, organizationId, [service])).get(serviceId);
  const address = provider === "webhook" ? (service.settings?.url as string) : secretOf(services, service);
  const outside = address === undefined ? undefined : await services.outgoing.findProblem(address);
  return narrowPage({
    title: titleOfService(service),
    heading: (
      <>
        {titleOfService(service)} <State state={stateOfService(service, failing?.since)} />
      </>
    ),
    problems,
    section: "settings",
    content: (
      <>
        <p class="quiet">{providerName(provider)}</p>
        {!enabled && <p class="warning">It is disabled: it is told of nothing.</p>}
        {provider !== "email" && service.secretSealed === null && (
          <p class="warning">Its secret was lost: nothing is sent until you give it another one.</p>
        )}
        {outside && <p class="warning">Requests fail: {outside.message}.</p>}
        {failing && (
          <p class="warning">
            It has failed for <Age from={failing.since} />: {failing.problem}. Correct it here or there: what
            waits is sent for a day.
          </p>
        )}
        <PostForm path={servicePath(request, service)} problems={problems} button="Save">
          <ServiceFields draft={draft} clusters={clusters} problems={problems} isNew={false} />
        </PostForm>
        <Requests messages={messages} shown={shown} service={service} request={request} />
        <div class="actions">
          <PostButton
            path={servicePath(request, service, patterns.switchServicePage)}
            fields={{ enabled: enabled ? "" : "1" }}
            class="secondary"
          >
            {enabled ? "Disable" : "Enable"}
          </PostButton>
          <LinkButton
            kind="danger"
            href={servicePath(request, service, patterns.deleteServicePage)}
            text="Delete"
          />
        </div>
      </>
    ),
  });
}
