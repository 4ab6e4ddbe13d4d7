import { patterns } from "../../../shared/paths.ts";
import { Refusal } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/runtime/services.ts";
import { type Delivery, listDeliveriesPage } from "../../../shared/triggers/deliveries/store.ts";
import type { FilterOutcome } from "../../../shared/triggers/filter/compile.ts";
import { testFilter } from "../../../shared/triggers/filter/deliveries.ts";
import type { FilterEvaluator } from "../../../shared/triggers/filter/evaluator.ts";
import { filterExpression } from "../../../shared/triggers/input.ts";
import { updateTrigger } from "../../../shared/triggers/triggers.ts";
import { problemsOf } from "../../../shared/validation.ts";
import type { Bodies } from "../../http/body.ts";
import { CsrfField, FormError, Select, TextArea } from "../ui/form.tsx";
import { type MemberRequest, memberAction, memberPage } from "../ui/member-page.ts";
import type { PageContent } from "../ui/page.ts";
import { asSentence, tryForm } from "../ui/problems.ts";
import { type LoadedTrigger, loadTrigger, triggerPath } from "./load.ts";

const maxDeliveries = 20;

interface Draft {
  expression: string;
  deliveryId: string;
  problem?: string | undefined;
  outcome?: FilterOutcome | undefined;
}

/** GET …/triggers/:trigger/filter?delivery=… */
export function filterPage(services: Services) {
  return memberPage(services, async (request) => {
    const at = await loadTrigger(services, request);
    const deliveryId = request.event.url.searchParams.get("delivery") ?? "";
    return show(services, request, at, { expression: at.trigger.filter ?? "", deliveryId });
  });
}

/** POST there {expression, delivery, action: try or save} */
export function tryOrSaveFilter(services: Services, filters: FilterEvaluator, bodies: Bodies) {
  return memberAction(services, bodies, async (request, form) => {
    const at = await loadTrigger(services, request);
    const draft = {
      expression: (form.get("expression") ?? "").trim(),
      deliveryId: form.get("delivery") ?? "",
    };
    const isSaving = form.get("action") === "save";
    const problems =
      isSaving && draft.expression === "" ? [] : problemsOf(filterExpression, draft.expression, "filter");
    if (problems.length > 0) return show(services, request, at, { ...draft, problem: asSentence(problems) });
    if (!isSaving) return show(services, request, at, await tryIt(services, filters, at, draft));

    const change = { filter: draft.expression || null };
    const saved = await tryForm(() => updateTrigger(services, request.actor, at.trigger, change));
    if ("problem" in saved) return show(services, request, at, { ...draft, problem: saved.problem });
    return triggerPath(request, at.trigger);
  });
}

async function tryIt(
  services: Services,
  filters: FilterEvaluator,
  { trigger }: LoadedTrigger,
  draft: Draft,
): Promise<Draft> {
  try {
    return { ...draft, outcome: await testFilter(services, filters, trigger, draft) };
  } catch (error) {
    if (!(error instanceof Refusal) || error.status >= 500) throw error;
    return { ...draft, problem: asSentence([error.message]) };
  }
}

async function show(
  { db }: Services,
  request: MemberRequest,
  { trigger }: LoadedTrigger,
  draft: Draft,
): Promise<PageContent> {
  const { organization, visitor } = request;
  if (!organization.features.includes("webhook_filtering"))
    throw new Refusal(403, "Filters are not available to this organization.");
  const deliveries = await listDeliveriesPage(db, trigger.id, { limit: maxDeliveries });
  return {
    title: "Filter",
    status: draft.problem ? 422 : 200,
    within: { organization, section: "pipelines" },
    content: (
      <div class="narrow">
        <p class="back">
          <a href={triggerPath(request, trigger)}>{trigger.label}</a>
        </p>
        <h1>Filter</h1>
        <p>
          Only deliveries for which this expression is true make a build. Try it on one that came earlier
          before you save it.
        </p>
        <form method="post" action={triggerPath(request, trigger, patterns.filterPage)}>
          <CsrfField visitor={visitor} />
          {draft.problem && <FormError>{draft.problem}</FormError>}
          {draft.outcome && <Outcome outcome={draft.outcome} />}
          <TextArea
            label="Expression"
            name="expression"
            value={draft.expression}
            maxLength={256}
            hint="CEL, 256 bytes at most. Empty: every delivery builds."
          />
          {deliveries.length > 0 && (
            <Select
              label="Delivery"
              name="delivery"
              value={draft.deliveryId}
              options={optionsOf(deliveries, draft.deliveryId)}
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
        <Examples />
      </div>
    ),
  };
}

/** The latest ones, and the one that was asked for if it is older. */
function optionsOf(deliveries: Delivery[], chosen: string) {
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
    <p class="notice" role="status">
      {outcome.verdict
        ? "True: this delivery would make a build."
        : "False: this delivery would make no build."}
    </p>
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
