import { patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/runtime/services.ts";
import { deleteTrigger, updateTrigger } from "../../../shared/triggers/triggers.ts";
import type { Bodies } from "../../http/body.ts";
import { seeOther } from "../../http/respond.ts";
import { pipelinePath } from "../pipelines/load.ts";
import { confirmation } from "../ui/confirmation.tsx";
import { memberAction, memberPage } from "../ui/member-page.ts";
import { withNotice } from "../ui/notices.ts";
import { loadTrigger, triggerPath } from "./load.ts";

/** POST …/enable */
export function enableTrigger(services: Services, bodies: Bodies) {
  return switchTrigger(services, bodies, true);
}

/** POST …/disable: deliveries are refused at once, with 403. */
export function disableTrigger(services: Services, bodies: Bodies) {
  return switchTrigger(services, bodies, false);
}

function switchTrigger(services: Services, bodies: Bodies, enabled: boolean) {
  return memberAction(services, bodies, async (request) => {
    const { trigger } = await loadTrigger(services, request);
    const path = triggerPath(request, trigger);
    if (trigger.enabled === enabled) return path; // somebody was faster, or it was a double click
    await updateTrigger(services, request.actor, trigger, { enabled });
    return withNotice(path, enabled ? "trigger_enabled" : "trigger_disabled");
  });
}

/** GET of an address that takes a form only: who signs in after sending one comes back to here. */
export function redirectToTrigger(services: Services) {
  return memberPage(services, async (request) => {
    const { trigger } = await loadTrigger(services, request);
    return seeOther(triggerPath(request, trigger));
  });
}

/** GET …/delete */
export function deleteTriggerPage(services: Services) {
  return memberPage(services, async (request) => {
    const { trigger } = await loadTrigger(services, request);
    return confirmation(request.visitor, {
      title: `Delete the trigger ${trigger.label}?`,
      within: { organization: request.organization, section: "pipelines" },
      text: "Its URL answers 404 at once, in the middle of whatever its sender does, and its deliveries are no longer listed. What it accepted before is still built, and builds stay. This cannot be undone.",
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
