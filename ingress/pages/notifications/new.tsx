import { newNotificationService } from "../../../shared/notifications/members.ts";
import { createNotificationService } from "../../../shared/notifications/notification-services.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { validationFailed } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import { toProblems } from "../../../shared/validation.ts";
import { type ServiceProvider, serviceProviders } from "../../../shared/vocabulary.ts";
import { LinkButton, PostForm } from "../ui/form.tsx";
import { adminAction, adminPage, type MemberRequest } from "../ui/member-page.ts";
import { narrowPage } from "../ui/narrow-page.tsx";
import { withNotice } from "../ui/notices.ts";
import type { PageContent } from "../ui/page.ts";
import { type FormProblems, tryForm } from "../ui/problems.ts";
import { addListCrumb, servicePath } from "./address.ts";
import { bodyOfDraft, emptyDraft, fieldNames, readService, type ServiceDraft } from "./draft.ts";
import { ServiceFields } from "./form.tsx";
import { loadClusters, scopeIdsOf } from "./scope.ts";
import { providerName, providerWords } from "./words.ts";

/** GET …/services/new: the providers, or the form of one. */
export const newServicePage = adminPage(async (services, request) => {
  addListCrumb(request);
  const provider = providerOf(request.event.url.searchParams.get("provider"));
  return provider ? show(services, request, emptyDraft(provider)) : choose(services, request);
});

/** POST …/services/new */
export const createService = adminAction(async (services, request, form) => {
  addListCrumb(request);
  const provider = providerOf(form.get("provider"));
  if (!provider) return choose(services, request);
  const draft = readService(provider, form);
  const outcome = await tryForm(async () => {
    const scopeIds = await scopeIdsOf(services, request, draft);
    const { data, error } = newNotificationService.safeParse(bodyOfDraft(draft, scopeIds, true));
    if (error) throw validationFailed(...toProblems(error));
    return createNotificationService(services, request.actor, data);
  }, fieldNames);
  if ("problems" in outcome) return show(services, request, draft, outcome.problems);
  return withNotice(servicePath(request, outcome.done), "notification_service_created");
});

function providerOf(text: string | null): ServiceProvider | undefined {
  return serviceProviders.find((provider) => provider === text);
}

function choose({ config }: Services, request: MemberRequest): PageContent {
  const path = pathTo(patterns.newServicePage, { org: request.organization.slug });
  return narrowPage({
    title: "New notification service",
    section: "settings",
    content: (
      <ul class="entries">
        {serviceProviders.map((provider) => {
          const isMissing = provider === "email" && config.smtpUrl === undefined;
          return (
            <li class="entry" key={provider}>
              <div>
                <h2>{providerName(provider)}</h2>
                <p class="quiet">{providerWords[provider]}</p>
                {isMissing && <p class="quiet">The operator has not set SMTP_URL yet.</p>}
              </div>
              {!isMissing && (
                <LinkButton
                  kind="secondary"
                  href={`${path}?provider=${provider}`}
                  text="Choose"
                  hidden={providerName(provider)}
                />
              )}
            </li>
          );
        })}
      </ul>
    ),
  });
}

async function show(
  services: Services,
  request: MemberRequest,
  draft: ServiceDraft,
  problems?: FormProblems,
): Promise<PageContent> {
  const { slug: org } = request.organization;
  const clusters = await loadClusters(services, request);
  return narrowPage({
    title: "New notification service",
    heading: `New notification service: ${providerName(draft.provider)}`,
    problems,
    section: "settings",
    content: (
      <PostForm
        path={pathTo(patterns.newServicePage, { org })}
        problems={problems}
        button="Create service"
        back={pathTo(patterns.servicesPage, { org })}
      >
        <input type="hidden" name="provider" value={draft.provider} />
        <ServiceFields draft={draft} clusters={clusters} problems={problems} isNew />
      </PostForm>
    ),
  });
}
