import { newId } from "../../../shared/ids.ts";
import { patterns } from "../../../shared/paths.ts";
import type { Pipeline } from "../../../shared/pipelines/store.ts";
import type { Services } from "../../../shared/process/services.ts";
import { createTrigger, maxTriggersPerPipeline } from "../../../shared/triggers/create.ts";
import { findTrigger, listTriggersOfPipeline } from "../../../shared/triggers/store.ts";
import { triggerTypes } from "../../../shared/triggers/types.ts";
import type { Bodies } from "../../http/body.ts";
import { pipelinePath } from "../address/pipeline.ts";
import { loadPipelineOfTriggers } from "../address/trigger.ts";
import { environmentFormOptions } from "../ui/environment-field.tsx";
import { CsrfField } from "../ui/form.tsx";
import { readFormId } from "../ui/form-id.ts";
import { type MemberRequest, memberAction, memberPage } from "../ui/member-page.ts";
import type { FormResult, PageContent } from "../ui/page.ts";
import { type FormProblems, tryForm } from "../ui/problems.ts";
import { PublicPreview } from "../ui/tables.tsx";
import { alreadyCreatedPage, createdPage } from "./created.tsx";
import {
  emptyDraft,
  fieldNames,
  readDraft,
  type TriggerDraft,
  TriggerFields,
  toNewTrigger,
  withGeneratedSecret,
} from "./form.tsx";

/** GET …/triggers/new */
export function newTriggerPage(services: Services) {
  const { db, clock } = services;
  return memberPage(services, async (request) => {
    const pipeline = await loadPipelineOfTriggers(services, request);
    const triggers = await listTriggersOfPipeline(db, pipeline.id);
    if (triggers.length >= maxTriggersPerPipeline) return limitReachedPage(request, pipeline);
    return newPage(services, request, { pipeline, id: newId(clock.now()), draft: emptyDraft });
  });
}

/** POST …/new: the answer shows the URL, once. */
export function addTrigger(services: Services, bodies: Bodies) {
  const { db } = services;
  const save = async (request: MemberRequest, form: URLSearchParams): Promise<FormResult> => {
    const pipeline = await loadPipelineOfTriggers(services, request);
    const draft = readDraft(form);
    const id = readFormId(services, form);
    if (form.get("do") === "generate")
      return newPage(services, request, { pipeline, id, draft: withGeneratedSecret(draft) });
    const outcome = await tryForm(
      async () =>
        createTrigger(
          services,
          request.actor,
          pipeline,
          toNewTrigger(services.config, request.actor, draft),
          id,
        ),
      fieldNames,
    );
    if ("problems" in outcome)
      return newPage(services, request, {
        pipeline,
        id,
        draft: withoutHiddenFields(draft),
        problems: outcome.problems,
      });
    if (!outcome.done) return alreadyCreatedPage(request, await findTrigger(db, pipeline.id, id));
    return createdPage(services, request, outcome.done, "Trigger created");
  };
  return memberAction(services, bodies, save, environmentFormOptions);
}

/** The type hides its fields of verification: a refused form must not come back with them filled in. */
function withoutHiddenFields(draft: TriggerDraft): TriggerDraft {
  return draft.type === "webhook" ? { ...draft, isVerified: false } : draft;
}

interface NewTriggerForm {
  pipeline: Pipeline;
  /** The new trigger's id: a form that is sent twice creates one. */
  id: string;
  draft: TriggerDraft;
  problems?: FormProblems;
}

function newPage({ config }: Services, request: MemberRequest, form: NewTriggerForm): PageContent {
  const { pipeline, id, draft, problems } = form;
  const { organization, visitor } = request;
  return {
    title: "New trigger",
    status: problems ? 422 : 200,
    script: "once.js",
    within: { organization, section: "pipelines" },
    content: (
      <div class="narrow">
        <h1>New trigger of {pipeline.name}</h1>
        <p>
          <PublicPreview />
        </p>
        <form method="post" action={pipelinePath(request, patterns.newTriggerPage)}>
          <CsrfField visitor={visitor} />
          <input type="hidden" name="id" value={id} />
          <TriggerFields
            draft={draft}
            problems={problems}
            types={triggerTypes(config.issueTracker)}
            filter={organization.features.includes("webhook_filtering") ? "available" : "unavailable"}
          />
          <p class="actions">
            <button type="submit">Create trigger</button>
            <a class="button secondary" href={pipelinePath(request, patterns.triggersPage)}>
              Cancel
            </a>
          </p>
        </form>
      </div>
    ),
  };
}

function limitReachedPage(request: MemberRequest, pipeline: Pipeline): PageContent {
  return {
    title: "New trigger",
    within: { organization: request.organization, section: "pipelines" },
    content: (
      <div class="narrow">
        <h1>New trigger of {pipeline.name}</h1>
        <p>
          The pipeline has {maxTriggersPerPipeline} triggers already, which is the maximum. Delete one first.
        </p>
        <p>
          <a class="button" href={pipelinePath(request, patterns.triggersPage)}>
            Go to the triggers
          </a>
        </p>
      </div>
    ),
  };
}
