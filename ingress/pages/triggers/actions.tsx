import { isId, newId } from "../../../shared/ids.ts";
import { patterns } from "../../../shared/paths.ts";
import { notFound } from "../../../shared/refusal.ts";
import { replaceTrigger } from "../../../shared/triggers/create.ts";
import { keepRefusedBodies, refusedBodiesUntil } from "../../../shared/triggers/deliveries/refused-bodies.ts";
import { findTrigger } from "../../../shared/triggers/store.ts";
import { deleteTrigger, updateTrigger } from "../../../shared/triggers/triggers.ts";
import { pipelinePath } from "../address/pipeline.ts";
import { loadPipelineOfTriggers, loadTrigger, triggerPath } from "../address/trigger.ts";
import { confirmPage } from "../resources/confirm-page.tsx";
import { readFormId } from "../ui/form-id.ts";
import { memberAction, memberPage } from "../ui/member-page.ts";
import { confirmation } from "../ui/narrow-page.tsx";
import { withNotice } from "../ui/notices.ts";
import { alreadyCreatedPage, createdPage } from "./created.tsx";

/** POST …/enable */
export const enableTrigger = switchTrigger(true);

/** POST …/disable */
export const disableTrigger = switchTrigger(false);

function switchTrigger(enabled: boolean) {
  return memberAction(async (services, request) => {
    const { trigger } = await loadTrigger(services, request);
    const path = triggerPath(request, trigger);
    if (trigger.enabled === enabled) return path; // a double click
    await updateTrigger(services, request.actor, trigger, { enabled });
    return withNotice(path, enabled ? "trigger_enabled" : "trigger_disabled");
  });
}

/** POST …/keep-refused-bodies: for an hour from now. */
export const keepBodies = switchRefusedBodies(true);

/** POST …/drop-refused-bodies */
export const dropBodies = switchRefusedBodies(false);

function switchRefusedBodies(isKept: boolean) {
  return memberAction(async (services, request) => {
    const { trigger } = await loadTrigger(services, request);
    const path = triggerPath(request, trigger);
    const isKeptAlready = refusedBodiesUntil(trigger, services.clock.now()) !== undefined;
    if (isKeptAlready === isKept) return path; // a double click
    await keepRefusedBodies(services, request.actor, trigger, isKept);
    return withNotice(path, isKept ? "refused_bodies_kept" : "refused_bodies_dropped");
  });
}

/** GET of the forms above: signing in after the session ended leads here. */
export const redirectToTrigger = memberPage(async (services, request) => {
  const { trigger } = await loadTrigger(services, request);
  return triggerPath(request, trigger);
});

/** GET …/replace */
export const replaceTriggerPage = memberPage(async (services, request) => {
  const { trigger } = await loadTrigger(services, request);
  return confirmation({
    title: `Replace the trigger ${trigger.label}?`,
    section: "pipelines",
    text: "The URL of a trigger cannot be changed. This makes a copy of the trigger with a new URL, which is shown once, and deletes this one: its URL answers 404 at once, and its deliveries are no longer listed. The settings, the environment variables and the secret stay as they are. Give the new URL to the sender right away.",
    button: "Replace",
    path: triggerPath(request, trigger, patterns.replaceTriggerPage),
    id: newId(services.clock.now()),
    back: triggerPath(request, trigger),
  });
});

/** POST …/replace {id}: the answer shows the new URL, once. */
export const replaceTriggerForm = memberAction(async (services, request, form) => {
  const { db } = services;
  const pipeline = await loadPipelineOfTriggers(services, request);
  const id = readFormId(services, form);
  const [old, copy] = await Promise.all(
    [request.parameter("trigger"), id].map((each) =>
      isId(each) ? findTrigger(db, { pipelineId: pipeline.id, id: each }) : undefined,
    ),
  );
  if (copy) return alreadyCreatedPage(request, copy);
  if (!old) throw notFound("pipeline trigger");
  const replaced = await replaceTrigger(services, request.actor, pipeline, old, id);
  if (!replaced) return alreadyCreatedPage(request, await findTrigger(db, { pipelineId: pipeline.id, id }));
  return createdPage(services, request, replaced, "Trigger replaced");
});

/** GET and POST …/delete */
export const deleteTriggerPage = confirmPage({
  isForAll: true,
  section: "pipelines",
  load: loadTrigger,
  title: ({ trigger }) => `Delete the trigger ${trigger.label}?`,
  text: () =>
    "Its URL answers 404 at once, and its deliveries are no longer listed. Deliveries that it accepted before are still built, and builds stay. This cannot be undone.",
  path: (request, { trigger }) => triggerPath(request, trigger, patterns.deleteTriggerPage),
  back: (request, { trigger }) => triggerPath(request, trigger),
  run: async (services, request, { trigger }) => {
    await deleteTrigger(services, request.actor, trigger);
    return withNotice(pipelinePath(request, patterns.triggersPage), "trigger_deleted");
  },
});
