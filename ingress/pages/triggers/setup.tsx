import { type PatternWith, patterns } from "../../../shared/paths.ts";
import { exactSize } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import { maxTriggersPerPipeline } from "../../../shared/triggers/create.ts";
import type { Trigger } from "../../../shared/triggers/store.ts";
import { typeOfTrigger } from "../../../shared/triggers/types.ts";
import { loadTrigger, triggerPath } from "../address/trigger.ts";
import { type MemberRequest, memberPage } from "../ui/member-page.ts";
import { PublicPreview } from "../ui/tables.tsx";
import { findHost, HostSteps, ProgramSteps, type Setup, TrackerSteps } from "./setup-steps.tsx";

/** GET …/triggers/:trigger/setup: instructions for the sender. */
export const triggerSetupPage = memberPage(async (services, request) => {
  const { config } = services;
  const { organization } = request;
  const { trigger } = await loadTrigger(services, request);
  const setup = setupOf(services, request, trigger);
  const { type } = setup;
  const title = `Set up ${type.about ? "the sender" : type.title}`;
  return {
    title,
    section: "pipelines",
    content: (
      <>
        <h1>
          {title} <PublicPreview />
        </h1>
        <p>
          The URL was shown when the trigger was created; it ends in <code>{trigger.tokenHint}</code>. If it
          is lost, or has leaked,{" "}
          <a href={triggerPath(request, trigger, patterns.replaceTriggerPage)}>replace the trigger</a>.
        </p>
        <SetupSteps {...setup} />
        <section aria-labelledby="limits">
          <h2 id="limits">Limits</h2>
          <ul>
            <li>A payload has at most {setup.maxPayload}.</li>
            <li>
              All triggers of {organization.name} together take {setup.deliveriesPerHour} deliveries an hour.
            </li>
            <li>A pipeline has at most {maxTriggersPerPipeline} triggers.</li>
            <li>
              A build’s steps read the payload with <code>meta-data get {config.serviceName}:webhook</code>,
              for {config.payloadRetentionDays} days. The headers of a delivery are not available to them.
            </li>
            <li>
              Triggers are in public preview. The URL of one cannot be rotated: replace the trigger instead.
              Deliveries cannot be restricted to IP addresses.
            </li>
          </ul>
        </section>
      </>
    ),
  };
});

/** The facts of a trigger that the steps for its sender name. */
export function setupOf({ config }: Services, request: MemberRequest, trigger: Trigger): Setup {
  const { organization } = request;
  const path = (pattern: PatternWith<"org" | "slug" | "trigger">) => triggerPath(request, trigger, pattern);
  return {
    trigger,
    type: typeOfTrigger(config.issueTracker, trigger),
    editPath: path(patterns.editTriggerPage),
    filterPath: organization.features.includes("webhook_filtering") ? path(patterns.filterPage) : undefined,
    maxPayload: exactSize(config.maxPayloadBytes),
    deliveriesPerHour: organization.deliveriesPerHour.toLocaleString("en"),
  };
}

/** The steps for the sender. */
export function SetupSteps(setup: Setup) {
  const host = findHost(setup.type);
  if (host) return <HostSteps {...setup} host={host} />;
  return setup.type.about ? <ProgramSteps {...setup} /> : <TrackerSteps {...setup} />;
}
