import { pathTo, patterns } from "../../../shared/paths.ts";
import { Refusal } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import type { Delivery } from "../../../shared/triggers/deliveries/store.ts";
import type { FilterOutcome } from "../../../shared/triggers/filter/compile.ts";
import { maxExpressionBytes } from "../../../shared/triggers/filter/compile.ts";
import { type Trial, testFilterOnLatest } from "../../../shared/triggers/filter/filter-tests.ts";
import { triggerMembers } from "../../../shared/triggers/members.ts";
import type { Trigger } from "../../../shared/triggers/store.ts";
import { updateTrigger } from "../../../shared/triggers/triggers.ts";
import { problemsOf } from "../../../shared/validation.ts";
import { setHeaders } from "../../http/respond.ts";
import { loadTrigger, triggerPath } from "../address/trigger.ts";
import { State } from "../states/state.tsx";
import { CsrfField, codeField, FormError, Select, TextArea } from "../ui/form.tsx";
import { type MemberRequest, memberAction, memberPage } from "../ui/member-page.ts";
import { narrowPage } from "../ui/narrow-page.tsx";
import type { PageContent } from "../ui/page.ts";
import { asSentence, type FieldNames, type FormProblems, tryForm } from "../ui/problems.ts";
import { Table } from "../ui/tables.tsx";
import { Time } from "../ui/times.tsx";
import { loadDeliveriesToTry } from "./load.ts";

const fieldNames: FieldNames = { filter: "expression", "filter.expression": "expression" };

type Tried = Awaited<ReturnType<typeof testFilterOnLatest>>;

interface FilterDraft {
  expression: string;
  deliveryId: string;
}

interface FilterForm extends FilterDraft {
  problems?: FormProblems;
  /** Default: 422 with problems. */
  status?: number;
  tried?: Tried;
}

/** GET …/triggers/:trigger/filter?delivery=…&expression=… */
export const filterPage = memberPage(async (services, request) => {
  const { trigger } = await loadTrigger(services, request);
  const { searchParams } = request.event.url;
  const deliveryId = searchParams.get("delivery") ?? "";
  const expression = searchParams.get("expression") ?? trigger.filter ?? "";
  return show(services, request, trigger, { expression, deliveryId });
});

/** POST …/filter {expression, delivery, action: try or save} */
export const tryOrSaveFilter = memberAction(async (services, request, form) => {
  const { trigger } = await loadTrigger(services, request);
  const expression = (form.get("expression") ?? "").trim();
  const draft = { expression, deliveryId: form.get("delivery") ?? "" };
  if (form.get("action") !== "save") {
    const result = await tryFilter(services, request, trigger, draft);
    return show(services, request, trigger, { ...draft, ...result });
  }
  const change = { filter: expression || null };
  const saved = await tryForm(() => updateTrigger(services, request.actor, trigger, change), fieldNames);
  if ("done" in saved) return triggerPath(request, trigger);
  return show(services, request, trigger, { ...draft, problems: saved.problems });
});

async function tryFilter(
  services: Services,
  { event, organization }: MemberRequest,
  trigger: Trigger,
  draft: FilterDraft,
): Promise<Pick<FilterForm, "problems" | "tried" | "status">> {
  const problems = problemsOf(triggerMembers.filter.create, draft.expression, "expression");
  if (problems.length > 0) return { problems };
  try {
    const test = { ...draft, trigger, organizationId: organization.id };
    return { tried: await testFilterOnLatest(services, test, event.req.signal) };
  } catch (error) {
    if (!(error instanceof Refusal) || error.status >= 500) throw error;
    const { status, headers, message } = error;
    setHeaders(event, headers);
    return { status, problems: [{ field: "", message }] };
  }
}

async function show(
  services: Services,
  request: MemberRequest,
  trigger: Trigger,
  { expression, deliveryId, problems, status = problems ? 422 : 200, tried }: FilterForm,
): Promise<PageContent> {
  const { organization } = request;
  const deliveries = await loadDeliveriesToTry(services, request, trigger);
  return narrowPage({
    title: "Filter",
    status,
    section: "pipelines",
    content: (
      <>
        <p>
          Only deliveries for which this expression is true make a build. Try it on those that came earlier
          before you save it.
        </p>
        <form method="post" action={triggerPath(request, trigger, patterns.filterPage)}>
          <CsrfField />
          {problems && <FormError problems={problems} />}
          {tried && <Outcome outcome={tried.chosen} />}
          <TextArea
            label="Expression"
            name="expression"
            value={expression}
            problems={problems}
            maxLength={maxExpressionBytes}
            {...codeField}
            hint={`CEL, ${maxExpressionBytes} bytes at most. Empty: every delivery builds.`}
          />
          {deliveries.length > 0 && (
            <Select
              label="Delivery"
              name="delivery"
              value={deliveryId}
              options={toOptions(deliveries, deliveryId)}
            />
          )}
          <p class="actions">
            {deliveries.length > 0 && (
              <button type="submit" name="action" value="try">
                Try
              </button>
            )}
            <button type="submit" name="action" value="save" class="secondary">
              Save
            </button>
          </p>
        </form>
        {deliveries.length === 0 && (
          <p class="quiet">There is no delivery to try it on yet. Send a test delivery first.</p>
        )}
        {tried && (
          <Latest
            latest={tried.latest}
            chosen={deliveryId}
            pathOf={(delivery) => {
              const parameters = {
                org: organization.slug,
                slug: request.parameter("slug"),
                trigger: trigger.id,
              };
              return pathTo(patterns.deliveryPage, { ...parameters, delivery });
            }}
          />
        )}
        <Examples />
      </>
    ),
  });
}

/** The chosen delivery comes first if it is not among the latest. */
function toOptions(deliveries: Delivery[], chosen: string) {
  const shown = deliveries.map(({ id, receivedAt, externalId }) => {
    const time = receivedAt.toISOString().slice(0, 19).replace("T", " ");
    return [id, externalId ? `${time} UTC, ${externalId}` : `${time} UTC`] as const;
  });
  const isShown = chosen === "" || deliveries.some(({ id }) => id === chosen);
  return isShown ? shown : [[chosen, "The delivery that you came from"] as const, ...shown];
}

function Outcome({ outcome }: { outcome: FilterOutcome }) {
  if ("error" in outcome)
    return (
      <p class="warning" role="status">
        No build: {asSentence([outcome.error])}
      </p>
    );
  return (
    <p class={outcome.verdict ? "notice" : "warning"} role="status">
      {outcome.verdict
        ? "True: this delivery would make a build."
        : "False: this delivery would make no build."}
    </p>
  );
}

const untriedWords = {
  too_large: "Not tried: too large. Choose it above to try it alone",
  no_payload: "Not tried: its payload is no longer kept",
  no_time: "Not tried: no time was left. Choose it above",
} as const;

/** A problem of the expression itself is shown above, not beside each delivery. */
function Latest({
  latest,
  chosen,
  pathOf,
}: {
  latest: Tried["latest"];
  chosen: string;
  pathOf: (delivery: string) => string;
}) {
  if (latest.length === 0) return null;
  const matches = latest.filter(({ trial }) => "verdict" in trial && trial.verdict).length;
  return (
    <section aria-labelledby="latest">
      <h2 id="latest">The latest deliveries</h2>
      <p>
        {matches} of the latest {latest.length} would make a build.
      </p>
      <Table caption="The latest deliveries" columns={["Received", "Result"]}>
        {latest.map(({ delivery, trial }) => (
          <tr key={delivery.id}>
            <th scope="row" class="described">
              <a href={pathOf(delivery.id)}>
                <Time at={delivery.receivedAt} />
              </a>
              {delivery.event && <span>{delivery.event}</span>}
              {delivery.id === chosen && <span class="quiet">the chosen one</span>}
            </th>
            <td>
              <TrialResult trial={trial} />
            </td>
          </tr>
        ))}
      </Table>
    </section>
  );
}

function TrialResult({ trial }: { trial: Trial }) {
  if ("untried" in trial) return <span class="quiet">{untriedWords[trial.untried]}</span>;
  if ("error" in trial)
    return (
      <>
        <State state="✗ error" kind="failed" />
        <span class="reason">{trial.error}</span>
      </>
    );
  return trial.verdict ? (
    <State state="✓ true" kind="build_created" />
  ) : (
    <State state="✗ false" kind="not_run" />
  );
}

const examples = [
  ['webhook.payload.ref == "refs/heads/main"', "pushes to main"],
  ['webhook.headers["HTTP_X_GITHUB_EVENT"] == "push"', "one event of several"],
  ['has(webhook.payload.action) && webhook.payload.action in ["opened", "reopened"]', "some actions"],
  ['webhook.payload.ref.matches("^refs/tags/v[0-9]+")', "version tags"],
] as const;

function Examples() {
  return (
    <section aria-labelledby="examples">
      <h2 id="examples">Examples</h2>
      <dl class="facts">
        {examples.map(([expression, meaning]) => (
          <>
            <dt>{meaning}</dt>
            <dd>
              <code>{expression}</code>
            </dd>
          </>
        ))}
      </dl>
    </section>
  );
}
