import { patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/services/services.ts";
import { endpointUrl } from "../../../shared/settings/urls.ts";
import { quoteForShell } from "../../../shared/shell.ts";
import type { CreatedTrigger } from "../../../shared/triggers/create.ts";
import type { Trigger } from "../../../shared/triggers/store.ts";
import { type TriggerType, typeOfTrigger } from "../../../shared/triggers/types.ts";
import { pipelinePath } from "../address/pipeline.ts";
import { triggerPath } from "../address/trigger.ts";
import { CopyField } from "../ui/copy-field.tsx";
import { LinkButton } from "../ui/form.tsx";
import type { MemberRequest } from "../ui/member-page.ts";
import { narrowPage } from "../ui/narrow-page.tsx";
import type { PageContent } from "../ui/page.ts";

/** Shows the URL of a new trigger, once. */
export function createdPage(
  { config }: Services,
  request: MemberRequest,
  { trigger, token }: CreatedTrigger,
  title: string,
): PageContent {
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
            <strong>Copy it now: it is not shown again.</strong> Whoever knows it can make builds, so keep it
            like a password.
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
        </section>
        <h2>Next</h2>
        <p>Tell the sender the URL, then look whether its deliveries arrive.</p>
        <p class="actions">
          <a class="button" href={triggerPath(request, trigger, patterns.triggerSetupPage)}>
            Set up {type.about ? "the sender" : type.title}
          </a>
          <LinkButton kind="secondary" href={triggerPath(request, trigger)} text="Go to the trigger" />
        </p>
        {type && (
          <section aria-labelledby="try">
            <h2 id="try">Try it</h2>
            <p>
              {isVerified
                ? "This command sends a delivery as the sender would, once you have put the secret into its first line:"
                : "This command sends a delivery:"}
            </p>
            <CopyField
              id="command"
              label="Command"
              rows={isVerified ? 10 : 6}
              value={curlCommand(type, { url, isVerified })}
            />
          </section>
        )}
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

/** A shell command that sends a delivery. For a verified trigger, the user types the secret into its first line. */
export function curlCommand(
  { sample, eventHeader, sampleEvent, signatures }: TriggerType,
  { url, isVerified }: { url: string; isVerified: boolean },
): string {
  const body = quoteForShell(JSON.stringify(sample));
  const headers = [
    quoteForShell("Content-Type: application/json"),
    ...(eventHeader && sampleEvent ? [quoteForShell(`${eventHeader}: ${sampleEvent}`)] : []),
  ];
  const signature = signatures.find(({ scheme }) => scheme !== "standard");
  if (!isVerified || !signature || signature.scheme === "standard") return curl(url, headers, body);
  const secret = `SECRET=${quoteForShell("the secret of this trigger")}`;
  if (signature.scheme === "token")
    return [secret, curl(url, [...headers, `"${signature.header}: $SECRET"`], body)].join("\n");
  return [
    secret,
    `BODY=${body}`,
    `SIGNATURE=$(printf %s "$BODY" | openssl dgst -${signature.algorithm} -hmac "$SECRET" ${encode[signature.encoding]})`,
    curl(
      url,
      [...headers, `${quoteForShell(`${signature.header}: ${signature.prefix}`)}"$SIGNATURE"`],
      '"$BODY"',
    ),
  ].join("\n");
}

const encode = { hex: "-r | cut -d ' ' -f 1", base64: "-binary | openssl base64 -A" };

function curl(url: string, headers: string[], body: string): string {
  return [
    `curl -X POST ${quoteForShell(url)}`,
    ...headers.map((header) => `-H ${header}`),
    `--data-raw ${body}`,
  ].join(" \\\n  ");
}
