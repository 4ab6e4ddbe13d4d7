import { changeOrganization, features, maxNameLength } from "../../../shared/accounts/organizations.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import type { Feature } from "../../../shared/vocabulary.ts";
import { Check, Field, PostForm } from "../ui/form.tsx";
import { adminAction, adminPage, type MemberRequest } from "../ui/member-page.ts";
import { narrowPage } from "../ui/narrow-page.tsx";
import { withNotice } from "../ui/notices.ts";
import type { PageContent } from "../ui/page.ts";
import { type FormProblems, tryForm } from "../ui/problems.ts";

interface SettingsDraft {
  name: string;
  deliveriesPerHour: string;
  features: readonly string[];
}

const featureWords: Record<Feature, { label: string; hint: string }> = {
  webhook_filtering: {
    label: "Filters of triggers",
    hint: "A trigger may have an expression, and only deliveries that match it make a build. While this is off, existing filters still apply, but can only be removed.",
  },
  custom_agent_images: {
    label: "Images of hosted agents",
    hint: "A hosted Linux queue may name the image that its agents run in.",
  },
  windows_hosted_agents: {
    label: "Hosted Windows agents",
    hint: "New hosted queues may have Windows machines, if the operator runs agents for them.",
  },
};

/** GET /organizations/:org/settings */
export const settingsPage = adminPage(async (_, request) => {
  const { name, deliveriesPerHour, features } = request.organization;
  return show(request, { name, deliveriesPerHour: String(deliveriesPerHour), features });
});

/** POST … {name, deliveries_per_hour, feature…} */
export const saveSettings = adminAction(async (services, request, form) => {
  const draft = {
    name: (form.get("name") ?? "").trim(),
    deliveriesPerHour: (form.get("deliveries_per_hour") ?? "").trim(),
    features: form.getAll("feature"),
  };
  const outcome = await tryForm(
    () =>
      changeOrganization(services, request.actor, {
        name: draft.name,
        deliveriesPerHour: /^\d+$/.test(draft.deliveriesPerHour)
          ? Number(draft.deliveriesPerHour)
          : Number.NaN,
        features: Object.fromEntries(features.map((name) => [name, draft.features.includes(name)])),
      }),
    { name: "name", deliveries_per_hour: "deliveries_per_hour" },
  );
  if ("problems" in outcome) return show(request, draft, outcome.problems);
  return withNotice(settingsPath(request), "settings_saved");
});

function settingsPath({ organization }: MemberRequest): string {
  return pathTo(patterns.settingsPage, { org: organization.slug });
}

function show(request: MemberRequest, draft: SettingsDraft, problems?: FormProblems): PageContent {
  const { organization } = request;
  return narrowPage({
    title: "Settings",
    problems,
    section: "settings",
    heading: `Settings of ${organization.name}`,
    content: (
      <>
        <p class="quiet">
          Its name in addresses is <code>{organization.slug}</code> and cannot change.
        </p>
        <PostForm path={settingsPath(request)} problems={problems} button="Save">
          <Field
            label="Name"
            name="name"
            value={draft.name}
            maxLength={maxNameLength}
            required
            problems={problems}
          />
          <Field
            label="Deliveries per hour"
            name="deliveries_per_hour"
            value={draft.deliveriesPerHour}
            inputMode="numeric"
            required
            problems={problems}
            hint="Webhooks that all triggers together take in any hour. Further ones are answered 429, and the sender may try again. The operator can allow more than you can set."
          />
          <fieldset>
            <legend>Features</legend>
            {features.map((name) => (
              <Check
                key={name}
                name="feature"
                value={name}
                checked={draft.features.includes(name)}
                {...featureWords[name]}
              />
            ))}
          </fieldset>
        </PostForm>
        <p>
          <a href={pathTo(patterns.connectionsPage, { org: organization.slug })}>Repository connections</a>{" "}
          say which source hosts are your own, and hold the tokens by which commits get statuses.
        </p>
        <p>
          <a href={pathTo(patterns.outboxPage, { org: organization.slug })}>Messages</a> that wait or have
          failed: statuses of commits, requests of notification services, notices and mails.
        </p>
        <p>
          <a href={pathTo(patterns.servicesPage, { org: organization.slug })}>Notification services</a> tell
          programs, chats and addresses of builds, jobs and agents.
        </p>
      </>
    ),
  });
}
