import { newId } from "../../../shared/ids.ts";
import { patterns } from "../../../shared/paths.ts";
import type { Pipeline } from "../../../shared/pipelines/store.ts";
import type { Services } from "../../../shared/runtime/services.ts";
import { createTrigger, maxTriggersPerPipeline } from "../../../shared/triggers/create.ts";
import { findTrigger, listTriggersOfPipeline } from "../../../shared/triggers/store.ts";
import { triggerTypes } from "../../../shared/triggers/types.ts";
import type { Bodies } from "../../http/body.ts";
import { loadPipeline, pipelinePath } from "../pipelines/load.ts";
import { CsrfField } from "../ui/form.tsx";
import { readFormId } from "../ui/form-id.ts";
import { type MemberRequest, memberAction, memberPage } from "../ui/member-page.ts";
import type { PageContent } from "../ui/page.ts";
import { tryForm } from "../ui/problems.ts";
import { PublicPreview } from "../ui/tables.tsx";
import { createdOnce, showCreated } from "./created.tsx";
import { emptyDraft, readDraft, type TriggerDraft, toNewTrigger } from "./draft.ts";
import {
  BuildFields,
  EnabledField,
  EnvironmentField,
  FilterField,
  TypeField,
  VerificationField,
} from "./form.tsx";
import { TriggerFormError, wrongField } from "./form-error.tsx";

/** GET …/triggers/new */
export function newTriggerPage(services: Services) {
  const { db, clock } = services;
  return memberPage(services, async (request) => {
    const pipeline = await loadPipeline(services, request);
    const present = await listTriggersOfPipeline(db, pipeline.id);
    const form = { id: newId(clock.now()), draft: emptyDraft };
    return present.length >= maxTriggersPerPipeline
      ? noRoom(request, pipeline)
      : show(services, request, { pipeline, ...form });
  });
}

/** POST there: the answer shows the URL, this once. */
export function addTrigger(services: Services, bodies: Bodies) {
  const { db } = services;
  return memberAction(services, bodies, async (request, form) => {
    const pipeline = await loadPipeline(services, request);
    const draft = readDraft(form);
    const id = readFormId(services, form);
    const read = toNewTrigger(draft);
    const outcome =
      "problem" in read
        ? read
        : await tryForm(() => createTrigger(services, request.actor, pipeline, read.input, id));
    if ("problem" in outcome)
      return show(services, request, { pipeline, id, draft, problem: outcome.problem });
    if (!outcome.done) return createdOnce(request, await findTrigger(db, pipeline.id, id));
    return showCreated(services, request, outcome.done, "Trigger created");
  });
}

interface NewTriggerForm {
  pipeline: Pipeline;
  /** The id that the trigger gets: the form makes one, however often it is sent. */
  id: string;
  draft: TriggerDraft;
  problem?: string;
}

function show({ config }: Services, request: MemberRequest, form: NewTriggerForm): PageContent {
  const { pipeline, id, draft, problem } = form;
  const { organization, visitor } = request;
  const wrong = wrongField(problem);
  const types = triggerTypes(config.issueTracker);
  const signing = types.filter(({ signature }) => signature).map(({ title }) => title);
  return {
    title: "New trigger",
    status: problem ? 422 : 200,
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
          {problem && <TriggerFormError problem={problem} draft={draft} />}
          <TypeField types={types} value={draft.type} />
          <BuildFields draft={draft} wrong={wrong} />
          <EnvironmentField value={draft.environment} wrong={wrong} />
          <VerificationField of={signing} draft={draft} wrong={wrong} />
          {organization.features.includes("webhook_filtering") && (
            <FilterField value={draft.filter} wrong={wrong} />
          )}
          <EnabledField checked={draft.enabled} />
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

function noRoom(request: MemberRequest, pipeline: Pipeline): PageContent {
  return {
    title: "New trigger",
    within: { organization: request.organization, section: "pipelines" },
    content: (
      <div class="narrow">
        <h1>New trigger of {pipeline.name}</h1>
        <p>
          The pipeline has {maxTriggersPerPipeline} triggers already, which is the most that it can have.
          Delete one first.
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
