import { patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/services/services.ts";
import { endpointUrl } from "../../../shared/settings/urls.ts";
import type { CreatedTrigger } from "../../../shared/triggers/create.ts";
import { curlCommand } from "../../../shared/triggers/curl-command.ts";
import type { Trigger } from "../../../shared/triggers/store.ts";
import { typeOfTrigger } from "../../../shared/triggers/types.ts";
import { pipelinePath } from "../address/pipeline.ts";
import { triggerPath } from "../address/trigger.ts";
import { CopyField, OnlyLocal } from "../ui/copy-field.tsx";
import { LinkButton } from "../ui/form.tsx";
import type { MemberRequest } from "../ui/member-page.ts";
import { narrowPage } from "../ui/narrow-page.tsx";
import type { PageContent } from "../ui/page.ts";
import { SetupSteps, setupOf } from "./setup.tsx";

/**
 * Shows the URL of a new trigger, once, and the steps that need it.
 * @param created.secret one that the form generated, and showed before
 */
export function createdPage(
  services: Services,
  request: MemberRequest,
  { trigger, token, secret }: CreatedTrigger & { secret?: string | undefined },
  title: string,
): PageContent {
  const { config } = services;
  const url = endpointUrl(config, token);
  const type = typeOfTrigger(config.issueTracker, trigger);
  const isVerified = trigger.secretSealed !== null;
  return {
    title,
    script: "copy.js",
    section: "pipelines",
    content: (
      <>
        <h1>{title}</h1>
        <section class="card" aria-labelledby="url">
          <h2 id="url">The URL of “{trigger.label}”</h2>
          <p>
            <strong>Copy {secret ? "both now: they are" : "it now: it is"} not shown again.</strong> Whoever
            knows the URL can make builds, so keep it like a password.
          </p>
          {!trigger.enabled && (
            <p class="warning">The trigger is disabled: it refuses deliveries until it is enabled.</p>
          )}
          {!isVerified && type.signatures.length > 0 && (
            <p class="warning">
              Not verified: whoever learns the URL can make builds, not {type.title} alone.{" "}
              <a href={triggerPath(request, trigger, patterns.editTriggerPage)}>Verify deliveries</a>
            </p>
          )}
          <CopyField id="endpoint-url" label="URL" rows={2} value={url} />
          <OnlyLocal url={url} />
          {secret && <CopyField id="endpoint-secret" label="Secret" rows={2} value={secret} />}
        </section>
        <SetupSteps {...setupOf(services, request, trigger)} />
        <section aria-labelledby="try">
          <h2 id="try">Try it</h2>
          <p>
            {isVerified && !secret
              ? "This command sends a delivery as the sender would, once you have put the secret into its first line:"
              : "This command sends a delivery as the sender would:"}
          </p>
          <CopyField
            id="command"
            label="Command"
            rows={isVerified ? 10 : 6}
            value={curlCommand(type, { url, isVerified, secret })}
            wrap="off"
          />
        </section>
        <p>
          The page of the trigger shows each delivery as it arrives, and these steps under “How to set up”.
        </p>
        <p class="actions">
          <LinkButton href={triggerPath(request, trigger)} text="Go to the trigger" />
        </p>
      </>
    ),
  };
}

/** @param trigger undefined if it was deleted since */
export function alreadyCreatedPage(request: MemberRequest, trigger: Trigger | undefined): PageContent {
  return narrowPage({
    title: "Already created",
    status: 409,
    section: "pipelines",
    heading: "This trigger was already created",
    content: (
      <>
        <p>
          The form was sent before, and a URL is shown only once. If the URL is lost, or has leaked, replace
          the trigger: a copy with a new URL takes its place.
        </p>
        <p class="actions">
          {trigger ? (
            <>
              <LinkButton href={triggerPath(request, trigger)} text={`Go to “${trigger.label}”`} />
              <LinkButton
                kind="secondary"
                href={triggerPath(request, trigger, patterns.replaceTriggerPage)}
                text="Replace it"
              />
            </>
          ) : (
            <LinkButton href={pipelinePath(request, patterns.triggersPage)} text="Go to the triggers" />
          )}
        </p>
      </>
    ),
  });
}
