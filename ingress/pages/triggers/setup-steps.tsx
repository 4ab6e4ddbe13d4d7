import type { ComponentChildren } from "preact";
import { curlCommand } from "../../../shared/triggers/curl-command.ts";
import type { Trigger } from "../../../shared/triggers/store.ts";
import type { TriggerType } from "../../../shared/triggers/types.ts";
import { Table } from "../ui/tables.tsx";

export interface Setup {
  trigger: Trigger;
  type: TriggerType;
  editPath: string;
  /** Absent where the organization has no filters. */
  filterPath: string | undefined;
  deliveriesPerHour: string;
  maxPayload: string;
}

/** The settings of a webhook at a host of repositories, in the order of its form. */
interface Host {
  open: ComponentChildren;
  url: string;
  /** Fields that decide how the payload is sent. */
  format: [field: string, rule: ComponentChildren][];
  /** The field that takes the secret. */
  secret: string;
  aboutSecret?: ComponentChildren;
  events: string;
  save: string;
  afterwards: (setup: Setup) => ComponentChildren;
}

const withoutPing = 'webhook.headers.HTTP_X_GITHUB_EVENT != "ping"';

const hosts: Partial<Record<TriggerType["stored"], Host>> = {
  github: {
    open: (
      <>
        Open the repository, or the organization for all of its repositories, and there{" "}
        <strong>Settings → Webhooks → Add webhook</strong>.
      </>
    ),
    url: "Payload URL",
    format: [
      [
        "Content type",
        <>
          <code>application/json</code>. The other choice, a form, is refused with 415.
        </>,
      ],
    ],
    secret: "Secret",
    events: "Which events",
    save: "Add webhook",
    afterwards: ({ trigger, filterPath }) => (
      <>
        GitHub sends a <code>ping</code> at once, which makes a build too.{" "}
        {filterPath && trigger.filter === null && (
          <>
            The filter{" "}
            <a href={`${filterPath}?${new URLSearchParams({ expression: withoutPing })}`}>
              <code>{withoutPing}</code>
            </a>{" "}
            leaves it out.
          </>
        )}
      </>
    ),
  },
  gitlab: {
    open: (
      <>
        Open the project, or the group for all of its projects, and there{" "}
        <strong>Settings → Webhooks → Add new webhook</strong>.
      </>
    ),
    url: "URL",
    format: [],
    secret: "Signing token, or Secret token",
    aboutSecret: (
      <>
        {" "}
        A signing token starts with <code>whsec_</code> and is better: GitLab signs with it and does not send
        it. Older versions have the secret token only.
      </>
    ),
    events: "Trigger",
    save: "Add webhook",
    afterwards: () => (
      <>
        <strong>Test</strong> sends an event, which makes a build too. A GitLab of your own refuses private
        addresses until its administrator allows them, under{" "}
        <strong>Settings → Network → Outbound requests</strong>.
      </>
    ),
  },
  gitea: {
    open: (
      <>
        Open the repository, or the organization for all of its repositories, and there{" "}
        <strong>Settings → Webhooks → Add webhook</strong>, of the kind Gitea or Forgejo.
      </>
    ),
    url: "Target URL",
    format: [
      ["HTTP method", "POST."],
      [
        "POST content type",
        <>
          <code>application/json</code>. The other choice, a form, is refused with 415.
        </>,
      ],
    ],
    secret: "Secret",
    events: "Trigger on",
    save: "Add webhook",
    afterwards: () => (
      <>
        <strong>Test delivery</strong> sends a push, which makes a build too. Private addresses are refused
        until <code>ALLOWED_HOST_LIST</code> of the section <code>[webhook]</code> in the server’s
        configuration allows them.
      </>
    ),
  },
  bitbucket: {
    open: (
      <>
        Open the repository, and there <strong>Repository settings → Webhooks → Add webhook</strong>.
      </>
    ),
    url: "URL",
    format: [],
    secret: "Secret",
    events: "Triggers",
    save: "Save",
    afterwards: () => (
      <>
        <strong>Test connection</strong> of Bitbucket Data Center sends <code>diagnostics:ping</code>, which
        makes a build too.
      </>
    ),
  },
};

/** Undefined for a type that is not a host's. */
export function findHost({ stored }: TriggerType): Host | undefined {
  return hosts[stored];
}

export function HostSteps({ host, ...setup }: Setup & { host: Host }) {
  const { trigger, type, editPath } = setup;
  return (
    <section aria-labelledby="steps">
      <h2 id="steps">At {type.title}</h2>
      <ol>
        <li>{host.open}</li>
        <li>
          <strong>{host.url}</strong>: the URL of this trigger.
        </li>
        {host.format.map(([field, rule]) => (
          <li key={field}>
            <strong>{field}</strong>: {rule}
          </li>
        ))}
        <li>
          <strong>{host.secret}</strong>:{" "}
          {trigger.secretSealed === null ? (
            <>
              leave it empty, or type one and <a href={editPath}>turn on Verify deliveries</a> with the same
              secret.
            </>
          ) : (
            "the secret of this trigger. Deliveries without it are refused with 401."
          )}
          {host.aboutSecret}
        </li>
        <li>
          <strong>{host.events}</strong>: those that should build. Every one that arrives makes a build,
          unless a filter leaves it out.
        </li>
        <li>
          <strong>{host.save}</strong>. {host.afterwards(setup)}
        </li>
      </ol>
    </section>
  );
}

export function TrackerSteps({ trigger, type, editPath }: Setup) {
  return (
    <section aria-labelledby="steps">
      <h2 id="steps">At {type.title}</h2>
      <ol>
        <li>
          Open <strong>Settings → API → Webhooks</strong> and add a webhook.
        </li>
        <li>
          <strong>URL</strong>: the URL of this trigger.
        </li>
        <li>
          <strong>Events</strong>: those that should build, such as issues. Every one that arrives makes a
          build, unless a filter leaves it out.
        </li>
        <li>
          {trigger.secretSealed === null ? (
            <>
              {type.title} makes a <strong>signing secret</strong> for the webhook. Copy it, and{" "}
              <a href={editPath}>turn on Verify deliveries</a> with it.
            </>
          ) : (
            <>
              The <strong>signing secret</strong> that {type.title} shows must be the secret of this trigger:
              deliveries that it did not sign are refused with 401. If it is another one,{" "}
              <a href={editPath}>change the secret here</a>.
            </>
          )}
        </li>
      </ol>
    </section>
  );
}

export function ProgramSteps({ type, deliveriesPerHour, maxPayload }: Setup) {
  const isVerified = type.isConfigurable ?? false;
  return (
    <>
      <section aria-labelledby="steps">
        <h2 id="steps">From any program</h2>
        <p>Post JSON to the URL, with its content type. Any JSON will do:</p>
        <pre class="payload">{curlCommand(type, { url: "the URL of this trigger", isVerified })}</pre>
        {isVerified && <SignatureRules signatures={type.signatures} />}
        <p>
          A program that may send the same thing twice adds the header <code>Idempotency-Key</code>, with at
          most 255 characters: the same key within 24 hours makes no second build and is answered with the
          first delivery’s id.
        </p>
      </section>
      <section aria-labelledby="answers">
        <h2 id="answers">Answers</h2>
        <Table caption="Answers" columns={["Status", "Meaning"]}>
          {answers({ deliveriesPerHour, maxPayload }).map(([status, meaning]) => (
            <tr key={status}>
              <th scope="row">{status}</th>
              <td>{meaning}</td>
            </tr>
          ))}
        </Table>
      </section>
    </>
  );
}

function SignatureRules({ signatures }: Pick<TriggerType, "signatures">) {
  return signatures.map(
    (signature) =>
      signature.scheme === "hmac" && (
        <p key={signature.header}>
          The header <code>{signature.header}</code> has{" "}
          {signature.prefix !== "" && (
            <>
              the text <code>{signature.prefix}</code> and{" "}
            </>
          )}
          the HMAC-{signature.algorithm.toUpperCase()} of the exact bytes of the body in{" "}
          {signature.encoding === "hex" ? "hex" : "Base64"}, keyed with the secret of this trigger. Deliveries
          without it are refused with 401.
        </p>
      ),
  );
}

function answers({
  deliveriesPerHour,
  maxPayload,
}: Pick<Setup, "deliveriesPerHour" | "maxPayload">): [status: string, meaning: string][] {
  return [
    ["201", "Accepted and stored: the body has the delivery’s id, and the build follows."],
    ["400", "The URL is not complete, or the payload is not JSON."],
    ["403", "The trigger is disabled."],
    ["404", "There is no such trigger: it was deleted or replaced."],
    ["413", `The payload is larger than ${maxPayload}.`],
    ["415", "The content type is not application/json, or the body is compressed."],
    [
      "429",
      `More than ${deliveriesPerHour} deliveries in an hour: try again after the seconds in Retry-After.`,
    ],
    ["503", "The server is not available: try again after the seconds in Retry-After."],
  ];
}
