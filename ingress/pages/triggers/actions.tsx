import { isId, newId } from "../../../shared/ids.ts";
import { patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/process/services.ts";
import { notFound } from "../../../shared/refusal.ts";
import { replaceTrigger } from "../../../shared/triggers/create.ts";
import { keepRefusedBodies, refusedBodiesUntil } from "../../../shared/triggers/deliveries/refused-bodies.ts";
import { findTrigger } from "../../../shared/triggers/store.ts";
import { deleteTrigger, updateTrigger } from "../../../shared/triggers/triggers.ts";
import type { Bodies } from "../../http/body.ts";
import { seeOther } from "../../http/respond.ts";
import { pipelinePath } from "../address/pipeline.ts";
import { loadPipelineOfTriggers, loadTrigger, triggerPath } from "../address/trigger.ts";
import { confirmation } from "../ui/confirmation.tsx";
import { readFormId } from "../ui/form-id.ts";
import { memberAction, memberPage } from "../ui/member-page.ts";
import { withNotice } from "../ui/notices.ts";
import { alreadyCreatedPage, createdPage } from "./created.tsx";

/** POST …/enable */
export function enableTrigger(services: Services, bodies: Bodies) {
  return switchTrigger(services, bodies, true);
}

/** POST …/disable */
export function disableTrigger(services: Services, bodies: Bodies) {
  return switchTrigger(services, bodies, false);
}

function switchTrigger(services: Services, bodies: Bodies, enabled: boolean) {
  return memberAction(services, bodies, async (request) => {
    const { trigger } = await loadTrigger(services, request);
    const path = triggerPath(request, trigger);
    if (trigger.enabled === enabled) return path; // a double click
    await updateTrigger(services, request.actor, trigger, { enabled });
    return withNotice(path, enabled ? "trigger_enabled" : "trigger_disabled");
  });
}

/** POST …/keep-refused-bodies: for an hour from now. */
export function keepBodies(services: Services, bodies: Bodies) {
  return switchRefusedBodies(services, bodies, true);
}

/** POST …/drop-refused-bodies */
export function dropBodies(services: Services, bodies: Bodies) {
  return switchRefusedBodies(services, bodies, false);
}

function switchRefusedBodies(services: Services, bodies: Bodies, isKept: boolean) {
  return memberAction(services, bodies, async (request) => {
    const { trigger } = await loadTrigger(services, request);
    const path = triggerPath(request, trigger);
    const isKeptAlready = refusedBodiesUntil(trigger, services.clock.now()) !== undefined;
    if (isKeptAlready === isKept) return path; // a double click
    await keepRefusedBodies(services, request.actor, trigger, isKept);
    return withNotice(path, isKept ? "refused_bodies_kept" : "refused_bodies_dropped");
  });
}

/** GET of the forms above: signing in after the session ended leads here. */
export function redirectToTrigger(services: Services) {
  return memberPage(services, async (request) => {
    const { trigger } = await loadTrigger(services, request);
    return seeOther(triggerPath(request, trigger));
  });
}

/** GET …/replace */
export function replaceTriggerPage(services: Services) {
  return memberPage(services, async (request) => {
    const { trigger } = await loadTrigger(services, request);
    return confirmation(request.visitor, {
      title: `Replace the trigger ${trigger.label}?`,
      within: { organization: request.organization, section: "pipelines" },
      text: "The URL of a trigger cannot be changed. This makes a copy of the trigger with a new URL, which is shown once, and deletes this one: its URL answers 404 at once, and its deliveries are no longer listed. The settings, the environment variables and the secret stay as they are. Give the new URL to the sender right away.",
      button: "Replace",
      path: triggerPath(request, trigger, patterns.replaceTriggerPage),
      id: newId(services.clock.now()),
      back: triggerPath(request, trigger),
    });
  });
}

/** POST …/replace {id}: the answer shows the new URL, once. */
export function replaceTriggerForm(services: Services, bodies: Bodies) {
  const { db } = services;
  return memberAction(services, bodies, async (request, form) => {
    const pipeline = await loadPipelineOfTriggers(services, request);
    const id = readFormId(services, form);
    const [old, copy] = await Promise.all(
      [request.parameter("trigger"), id].map((each) =>
        isId(each) ? findTrigger(db, pipeline.id, each) : undefined,
      ),
    );
    if (copy) return alreadyCreatedPage(request, copy);
    if (!old) throw notFound("pipeline trigger");
    const replaced = await replaceTrigger(services, request.actor, pipeline, old, id);
    if (!replaced) return alreadyCreatedPage(request, await findTrigger(db, pipeline.id, id));
    return createdPage(services, request, replaced, "Trigger replaced");
  });
}

/** GET …/delete */
export function deleteTriggerPage(services: Services) {
  return memberPage(services, async (request) => {
    const { trigger } = await loadTrigger(services, request);
    return confirmation(request.visitor, {
      title: `Delete the trigger ${trigger.label}?`,
      within: { organization: request.organization, section: "pipelines" },
      text: "Its URL answers 404 at once, and its deliveries are no longer listed. Deliveries that it accepted before are still built, and builds stay. This cannot be undone.",
      button: "Delete",
      path: triggerPath(request, trigger, patterns.deleteTriggerPage),
      back: triggerPath(request, trigger),
    });
  });
}

/** POST …/delete */
export function removeTrigger(services: Services, bodies: Bodies) {
  return memberAction(services, bodies, async (request) => {
    const { trigger } = await loadTrigger(services, request);
    await deleteTrigger(services, request.actor, trigger);
    return withNotice(pipelinePath(request, patterns.triggersPage), "trigger_deleted");
  });
}
