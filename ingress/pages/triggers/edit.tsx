import { patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/process/services.ts";
import { updateTrigger } from "../../../shared/triggers/triggers.ts";
import type { Bodies } from "../../http/body.ts";
import { triggerPath } from "../address/trigger.ts";
import { environmentFormOptions } from "../ui/environment-field.tsx";
import { CsrfField } from "../ui/form.tsx";
import { type MemberRequest, memberAction, memberPage } from "../ui/member-page.ts";
import { withNotice } from "../ui/notices.ts";
import type { FormResult, PageContent } from "../ui/page.ts";
import { type FormProblems, tryForm } from "../ui/problems.ts";
import {
  fieldNames,
  readDraft,
  type TriggerDraft,
  TriggerFields,
  toChange,
  toDraft,
  withGeneratedSecret,
} from "./form.tsx";
import { type EditedTrigger, loadEditedTrigger } from "./load.ts";

/** GET …/triggers/:trigger/edit */
export function editTriggerPage(services: Services) {
  return memberPage(services, async (request) => {
    const edited = await loadEditedTrigger(services, request);
    return editPage(request, edited, { draft: toDraft(edited.trigger) });
  });
}

/** POST …/edit {fields as in new, environment_choice: keep or replace} */
export function saveTrigger(services: Services, bodies: Bodies) {
  const save = async (request: MemberRequest, form: URLSearchParams): Promise<FormResult> => {
    const edited = await loadEditedTrigger(services, request);
    const { trigger } = edited;
    const draft = readDraft(form, trigger.type);
    if (form.get("do") === "generate")
      return editPage(request, edited, { draft: withGeneratedSecret(draft) });
    const outcome = await tryForm(
      async () =>
        updateTrigger(
          services,
          request.actor,
          trigger,
          toChange(services.config, request.actor, draft, trigger),
        ),
      fieldNames,
    );
    if ("problems" in outcome) return editPage(request, edited, { draft, problems: outcome.problems });
    return withNotice(triggerPath(request, trigger), "trigger_saved");
  };
  return memberAction(services, bodies, save, environmentFormOptions);
}

function editPage(
  request: MemberRequest,
  { trigger, type, variables, secretEnd }: EditedTrigger,
  { draft, problems }: { draft: TriggerDraft; problems?: FormProblems },
): PageContent {
  const { organization, visitor } = request;
  return {
    title: "Edit",
    status: problems ? 422 : 200,
    within: { organization, section: "pipelines" },
    content: (
      <div class="narrow">
        <h1>Edit {trigger.label}</h1>
        <p>
          Type: {type.title}. <span class="quiet">A trigger keeps its type and its URL.</span>
        </p>
        <form method="post" action={triggerPath(request, trigger, patterns.editTriggerPage)}>
          <CsrfField visitor={visitor} />
          <TriggerFields
            draft={draft}
            problems={problems}
            types={[type]}
            saved={{ variables, secretEnd }}
            filter={
              organization.features.includes("webhook_filtering")
                ? "available"
                : trigger.filter === null
                  ? "unavailable"
                  : "kept"
            }
          />
          <p class="actions">
            <button type="submit">Save</button>
            <a class="button secondary" href={triggerPath(request, trigger)}>
              Cancel
            </a>
          </p>
        </form>
      </div>
    ),
  };
}
