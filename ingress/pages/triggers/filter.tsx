import { pathTo, patterns } from "../../../shared/paths.ts";
import { Refusal } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import type { Delivery } from "../../../shared/triggers/deliveries/store.ts";
import { maxExpressionBytes } from "../../../shared/triggers/filter/compile.ts";
import { testFilterOnLatest } from "../../../shared/triggers/filter/filter-tests.ts";
import { findFilterWarning } from "../../../shared/triggers/filter/warnings.ts";
import { triggerMembers } from "../../../shared/triggers/members.ts";
import type { Trigger } from "../../../shared/triggers/store.ts";
import { updateTrigger } from "../../../shared/triggers/triggers.ts";
import { type TriggerType, typeOfTrigger, visibleHeaders } from "../../../shared/triggers/types.ts";
import { problemsOf } from "../../../shared/validation.ts";
import { setHeaders } from "../../http/respond.ts";
import { loadTrigger, triggerPath } from "../address/trigger.ts";
import { isSecret } from "../deliveries/read-values.tsx";
import { CsrfField, conditionField, FormError, Select, TextArea } from "../ui/form.tsx";
import { type MemberRequest, memberAction, memberPage } from "../ui/member-page.ts";
import { narrowPage } from "../ui/narrow-page.tsx";
import { withNotice } from "../ui/notices.ts";
import type { PageContent } from "../ui/page.ts";
import { type FieldNames, type FormProblems, tryForm } from "../ui/problems.ts";
import { Cel } from "./filter-field.tsx";
import { Latest, Outcome, type Tried } from "./filter-trial.tsx";
import { loadDeliveriesToTry, loadPayloadToTry } from "./load.ts";
import { joinExpressions, PayloadTree } from "./payload-tree.tsx";

const fieldNames: FieldNames = { filter: "expression", "filter.expression": "expression" };

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
  if ("done" in saved) return withNotice(triggerPath(request, trigger), "trigger_saved");
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
  const warning = findFilterWarning(expression);
  const chosen = deliveryId || (deliveries[0]?.id ?? "");
  const shown = visibleHeaders(services.config.issueTracker, trigger);
  /** This page with another expression, for browsers without scripts. */
  const hrefOf = (filled: string) =>
    `${triggerPath(request, trigger, patterns.filterPage)}?${new URLSearchParams({ delivery: chosen, expression: filled })}`;
  return narrowPage({
    title: "Filter",
    status,
    section: "pipelines",
    script: "fill.js",
    content: (
      <>
        <p>
          Only deliveries for which this expression is true make a build. Try it on those that came earlier
          before you save it.
        </p>
        <form method="post" action={triggerPath(request, trigger, patterns.filterPage)}>
          <CsrfField />
          {problems && <FormError problems={problems} />}
          {warning && <p class="warning">{warning}</p>}
          {tried && <Outcome outcome={tried.chosen} isShown={(value) => !isSecret(value, shown)} />}
          <TextArea
            label="Expression"
            name="expression"
            value={expression}
            problems={problems}
            maxLength={maxExpressionBytes}
            {...conditionField}
            hint={
              <>
                <Cel />, {maxExpressionBytes} bytes at most. Empty: every delivery builds.
              </>
            }
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
        <PayloadTree
          payload={await loadPayloadToTry(services, trigger, chosen)}
          shown={shown}
          hrefOf={(comparison) => hrefOf(joinExpressions(expression, comparison))}
        />
        <Examples type={typeOfTrigger(services.config.issueTracker, trigger)} hrefOf={hrefOf} />
      </>
    ),
  });
}

/** The chosen delivery comes first if it is not among the latest. */
function toOptions(deliveries: Delivery[], chosen: string) {
  const shown = deliveries.map(({ id, event, receivedAt, externalId }) => {
    const time = `${receivedAt.toISOString().slice(0, 19).replace("T", " ")} UTC`;
    return [id, [event, time, externalId].filter(Boolean).join(", ")] as const;
  });
  const isShown = chosen === "" || deliveries.some(({ id }) => id === chosen);
  return isShown ? shown : [[chosen, "The delivery that you came from"] as const, ...shown];
}

const examples = [
  ['webhook.payload.ref == "refs/heads/main"', "pushes to main"],
  ['webhook.headers["HTTP_X_GITHUB_EVENT"] == "push"', "one event of several"],
  ['has(webhook.payload.action) && webhook.payload.action in ["opened", "reopened"]', "some actions"],
  ['webhook.payload.ref.matches("^refs/tags/v[0-9]+")', "version tags"],
] as const;
const ofCommits = ['!webhook.payload.head_commit.message.contains("[skip ci]")', "no [skip ci]"] as const;

/** A click fills the field. Payloads of some types have no `head_commit`. */
function Examples({ type, hrefOf }: { type: TriggerType; hrefOf: (expression: string) => string }) {
  const shown = "head_commit" in type.sample ? [...examples, ofCommits] : examples;
  return (
    <section aria-labelledby="examples">
      <h2 id="examples">Examples</h2>
      <dl class="facts">
        {shown.map(([expression, meaning]) => (
          <>
            <dt>{meaning}</dt>
            <dd>
              <a href={hrefOf(expression)} data-fills="field-expression" data-text={expression}>
                <code>{expression}</code>
              </a>
            </dd>
          </>
        ))}
      </dl>
    </section>
  );
}
