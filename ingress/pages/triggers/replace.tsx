import { isId, newId } from "../../../shared/ids.ts";
import { patterns } from "../../../shared/paths.ts";
import { notFound } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/runtime/services.ts";
import { replaceTrigger } from "../../../shared/triggers/create.ts";
import { findTrigger } from "../../../shared/triggers/store.ts";
import type { Bodies } from "../../http/body.ts";
import { loadPipeline } from "../pipelines/load.ts";
import { confirmation } from "../ui/confirmation.tsx";
import { readFormId } from "../ui/form-id.ts";
import { memberAction, memberPage } from "../ui/member-page.ts";
import { createdOnce, showCreated } from "./created.tsx";
import { loadTrigger, triggerPath } from "./load.ts";

/** GET …/replace */
export function replaceTriggerPage(services: Services) {
  return memberPage(services, async (request) => {
    const { trigger } = await loadTrigger(services, request);
    return confirmation(request.visitor, {
      title: `Replace the trigger ${trigger.label}?`,
      within: { organization: request.organization, section: "pipelines" },
      text: "The URL of a trigger cannot be changed. So this makes a copy of the trigger that has a new URL, which is shown once, and deletes this one: its URL answers 404 at once, and its deliveries are no longer listed. The settings, the environment variables and the secret stay as they are. Give the new URL to the sender right away.",
      button: "Replace",
      path: triggerPath(request, trigger, patterns.replaceTriggerPage),
      id: newId(services.clock.now()),
      back: triggerPath(request, trigger),
    });
  });
}

/** POST …/replace {id}: the answer shows the new URL, this once. */
export function replaceTriggerForm(services: Services, bodies: Bodies) {
  const { db } = services;
  return memberAction(services, bodies, async (request, form) => {
    const pipeline = await loadPipeline(services, request);
    const id = readFormId(services, form);
    const [old, copy] = await Promise.all(
      [request.parameter("trigger"), id].map((each) =>
        isId(each) ? findTrigger(db, pipeline.id, each) : undefined,
      ),
    );
    if (copy) return createdOnce(request, copy);
    if (!old) throw notFound("pipeline trigger");
    const replaced = await replaceTrigger(services, request.actor, pipeline, old, id);
    if (!replaced) return createdOnce(request, await findTrigger(db, pipeline.id, id));
    return showCreated(services, request, replaced, "Trigger replaced");
  });
}
