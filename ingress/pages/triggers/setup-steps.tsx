import type { Trigger } from "../../../shared/triggers/store.ts";
import type { TriggerType } from "../../../shared/triggers/types.ts";
import { Table } from "../ui/tables.tsx";
import { curlCommand } from "./created.tsx";

export interface Setup {
  trigger: Trigger;
  type: TriggerType;
  editPath: string;
  /** Absent where the organization has no filters. */
  filterPath: string | undefined;
  deliveriesPerHour: string;
  maxPayload: string;
}

const withoutPing = 'webhook.headers.HTTP_X_GITHUB_EVENT != "ping"';

export function GitHubSteps({ trigger, editPath, filterPath }: Setup) {
  return (
    <section aria-labelledby="steps">
      <h2 id="steps">At GitHub</h2>
      <ol>
        <li>
          Open the repository, or the organization for all of its repositories, and there{" "}
          <strong>Settings → Webhooks → Add webhook</strong>.
        </li>
        <li>
          <strong>Payload URL</strong>: the URL of this trigger.
        </li>
        <li>
          <strong>Content type</strong>: <code>application/json</code>. The other choice, a form, is refused
          with 415.
        </li>
        <li>
          <strong>Secret</strong>:{" "}
          {trigger.secretSealed === null ? (
            <>
              leave it empty, or type one and <a href={editPath}>turn on Verify deliveries</a> with the same
              secret.
            </>
          ) : (
            "the secret of this trigger. Deliveries that it did not sign are refused with 401."
          )}
        </li>
        <li>
          <strong>Which events</strong>: those that should build. Every one that arrives makes a build, unless
          a filter leaves it out.
        </li>
        <li>
          <strong>Add webhook</strong>. GitHub sends a <code>ping</code> at once, which makes a build too.{" "}
          {filterPath && trigger.filter === null && (
            <>
              The filter{" "}
              <a href={`${filterPath}?${new URLSearchParams({ expression: withoutPing })}`}>
                <code>{withoutPing}</code>
              </a>{" "}
              leaves it out.
            </>
          )}
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
  return (
    <>
      <section aria-labelledby="steps">
        <h2 id="steps">From any program</h2>
        <p>Post JSON to the URL, with its content type. Any JSON will do:</p>
        {type && (
          <pre class="payload">
            {curlCommand(type, { url: "the URL of this trigger", isVerified: false })}
          </pre>
        )}
        <p>
          A program that may send the same thing twice adds the header <code>Idempotency-Key</code>, with at
          most 255 characters: the same key within 24 hours makes no second build and is answered with the
          first delivery’s id.
        </p>
      </section>
      <section aria-labelledby="answers">
        <h2 id="answers">Answers</h2>
        <Table caption="Answers" columns={["Status", "What it means"]}>
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
    ["503", "We are not available: try again after the seconds in Retry-After."],
  ];
}
