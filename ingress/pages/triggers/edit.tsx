import { patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/runtime/services.ts";
import { environmentOf, lastTwoOf } from "../../../shared/triggers/settings.ts";
import type { Trigger } from "../../../shared/triggers/store.ts";
import { updateTrigger } from "../../../shared/triggers/triggers.ts";
import { findTriggerType } from "../../../shared/triggers/types.ts";
import type { Bodies } from "../../http/body.ts";
import { CsrfField } from "../ui/form.tsx";
import { type MemberRequest, memberAction, memberPage } from "../ui/member-page.ts";
import { withNotice } from "../ui/notices.ts";
import type { PageContent } from "../ui/page.ts";
import { tryForm } from "../ui/problems.ts";
import { draftOf, readDraft, type TriggerDraft, toChange } from "./draft.ts";
import {
  BuildFields,
  ChangedEnvironmentField,
  EnabledField,
  FilterField,
  VerificationField,
} from "./form.tsx";
import { TriggerFormError, wrongField } from "./form-error.tsx";
import { loadTrigger, triggerPath } from "./load.ts";

/** GET …/triggers/:trigger/edit */
export function editTriggerPage(services: Services) {
  return memberPage(services, async (request) => {
    const { trigger } = await loadTrigger(services, request);
    return show(services, request, { trigger, draft: draftOf(trigger) });
  });
}

/** POST there: the form of a new trigger, and environment_choice (keep or replace) */
export function saveTrigger(services: Services, bodies: Bodies) {
  return memberAction(services, bodies, async (request, form) => {
    const { trigger } = await loadTrigger(services, request);
    const draft = readDraft(form);
    const read = toChange(draft, trigger);
    const outcome =
      "problem" in read
        ? read
        : await tryForm(() => updateTrigger(services, request.actor, trigger, read.change));
    if ("problem" in outcome) return show(services, request, { trigger, draft, problem: outcome.problem });
    return withNotice(triggerPath(request, trigger), "trigger_saved");
  });
}

function show(
  { config, cipher }: Services,
  request: MemberRequest,
  { trigger, draft, problem }: { trigger: Trigger; draft: TriggerDraft; problem?: string },
): PageContent {
  const { organization, visitor } = request;
  const wrong = wrongField(problem);
  const type = findTriggerType(config.issueTracker, trigger.type);
  const secret = trigger.secretSealed === null ? undefined : cipher.open(trigger.secretSealed);
  const canFilter = organization.features.includes("webhook_filtering") || trigger.filter !== null;
  return {
    title: `Edit ${trigger.label}`,
    status: problem ? 422 : 200,
    within: { organization, section: "pipelines" },
    content: (
      <div class="narrow">
        <h1>Edit {trigger.label}</h1>
        <p>
          Type: {type?.title ?? trigger.type}.{" "}
          <span class="quiet">A trigger keeps its type and its URL.</span>
        </p>
        <form method="post" action={triggerPath(request, trigger, patterns.editTriggerPage)}>
          <CsrfField visitor={visitor} />
          {problem && <TriggerFormError problem={problem} draft={draft} />}
          <BuildFields draft={draft} wrong={wrong} />
          <ChangedEnvironmentField
            names={Object.keys(environmentOf(cipher, trigger))}
            draft={draft}
            wrong={wrong}
          />
          {type?.signature && (
            <VerificationField
              of={[type.title]}
              draft={draft}
              wrong={wrong}
              secretHint={secret && endOf(secret)}
            />
          )}
          {canFilter && <FilterField value={draft.filter} wrong={wrong} />}
          <EnabledField checked={draft.enabled} />
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

/** Enough to tell secrets apart. */
function endOf(secret: string): string {
  const end = lastTwoOf(secret);
  return end && `, which ends in ${end}`;
}
