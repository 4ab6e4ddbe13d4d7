import { patterns } from "../../../shared/paths.ts";
import { environmentOf } from "../../../shared/triggers/columns.ts";
import { updateTrigger } from "../../../shared/triggers/triggers.ts";
import { triggerPath } from "../address/trigger.ts";
import { environmentFormOptions, requireNoneSaved } from "../ui/environment-field.tsx";
import { PostForm } from "../ui/form.tsx";
import { type MemberRequest, memberAction, memberPage } from "../ui/member-page.ts";
import { narrowPage } from "../ui/narrow-page.tsx";
import { withNotice } from "../ui/notices.ts";
import type { PageContent } from "../ui/page.ts";
import { type FormProblems, tryForm } from "../ui/problems.ts";
import { filterSettings } from "./filter-field.tsx";
import {
  fieldNames,
  readTrigger,
  type TriggerDraft,
  TriggerFields,
  toChange,
  toDraft,
  withGeneratedSecret,
} from "./form.tsx";
import { type EditedTrigger, loadEditedTrigger } from "./load.ts";

/** GET …/triggers/:trigger/edit */
export const editTriggerPage = memberPage(async (services, request) => {
  const edited = await loadEditedTrigger(services, request);
  return editPage(request, edited, { draft: toDraft(edited.trigger) });
});

/** POST …/edit {fields as in new, environment_choice: keep, replace or first} */
export const saveTrigger = memberAction(async (services, request, form) => {
  const edited = await loadEditedTrigger(services, request);
  const { trigger } = edited;
  const draft = readTrigger(form, trigger.type);
  if (form.get("do") === "generate") return editPage(request, edited, { draft: withGeneratedSecret(draft) });
  const outcome = await tryForm(async () => {
    const change = toChange(services.config, request.actor, draft, trigger);
    return updateTrigger(services, request.actor, trigger, change, (present) =>
      requireNoneSaved(form, environmentOf(services.cipher, present)),
    );
  }, fieldNames);
  if ("problems" in outcome) return editPage(request, edited, { draft, problems: outcome.problems });
  return withNotice(triggerPath(request, trigger), "trigger_saved");
}, environmentFormOptions);

function editPage(
  request: MemberRequest,
  { trigger, type, variables, secretEnd }: EditedTrigger,
  { draft, problems }: { draft: TriggerDraft; problems?: FormProblems },
): PageContent {
  const { organization } = request;
  return narrowPage({
    title: "Edit",
    problems,
    section: "pipelines",
    heading: `Edit ${trigger.label}`,
    content: (
      <>
        <p>
          Type: {type.title}. <span class="quiet">A trigger keeps its type and its URL.</span>
        </p>
        <PostForm
          path={triggerPath(request, trigger, patterns.editTriggerPage)}
          button="Save"
          back={triggerPath(request, trigger)}
        >
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
            settings={filterSettings(request)}
          />
        </PostForm>
      </>
    ),
  });
}
