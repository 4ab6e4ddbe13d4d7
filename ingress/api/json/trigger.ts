import { z } from "zod";
import type { User } from "../../../shared/accounts/user-store.ts";
import type { Cipher } from "../../../shared/crypto/cipher.ts";
import { presentMembers, shownOf } from "../../../shared/members/answers.ts";
import { only } from "../../../shared/members/only.ts";
import type { PipelineFacts } from "../../../shared/pipelines/store.ts";
import * as field from "../../../shared/presenters/fields.ts";
import { presentUserById, userSchema } from "../../../shared/presenters/user.ts";
import type { Config } from "../../../shared/settings/config.ts";
import { api, endpointUrl } from "../../../shared/settings/urls.ts";
import { buildOf, environmentOf, lastTwoOf, secretOf } from "../../../shared/triggers/columns.ts";
import { triggerMembers } from "../../../shared/triggers/members.ts";
import type { Trigger } from "../../../shared/triggers/store.ts";
import { typeOfTrigger } from "../../../shared/triggers/types.ts";
import { text } from "../../../shared/validation.ts";

export const triggerSchema = z
  .object({
    id: field.id,
    url: field.url,
    ...shownOf(triggerMembers, {
      filter: (shape) => z.object(shape).nullable(),
      verification: (shape) =>
        z
          .object(shape)
          .nullable()
          .meta({ description: "Triggers of type hmac have header, algorithm, encoding and prefix too" }),
    }),
    endpoint_url_hint: z.string(),
    endpoint_url: field.url.optional().meta({ description: "In the answer to its creation only" }),
    created_at: field.timestamp,
    created_by: userSchema,
    updated_at: field.timestamp,
    updated_by: userSchema,
    pipeline: z.object({ id: field.id, slug: z.string(), url: field.url }),
  })
  .meta({ id: "PipelineTrigger" });

export interface TriggerContext {
  config: Config;
  cipher: Cipher;
  org: string;
  pipeline: PipelineFacts;
  users: ReadonlyMap<string, User>;
}

/** @param token of its address, in the answer to the creation only */
export function presentTrigger(
  { config, cipher, org, pipeline, users }: TriggerContext,
  trigger: Trigger,
  token?: string,
) {
  const address = { org, slug: pipeline.slug };
  const secret = secretOf(cipher, trigger);
  const shown = {
    ...trigger,
    ...buildOf(trigger),
    type: typeOfTrigger(config.issueTracker, trigger).name,
    environment: Object.keys(environmentOf(cipher, trigger)),
    filter: trigger.filter ?? undefined,
    ...(secret !== undefined && { strategy: "hmac", secret: hint(lastTwoOf(secret)), ...trigger.signature }),
  };
  return {
    id: trigger.id,
    url: api.trigger(config, address, trigger.id),
    ...presentMembers(triggerMembers, shown),
    endpoint_url_hint: hint(trigger.tokenHint),
    ...(token === undefined ? {} : { endpoint_url: endpointUrl(config, token) }),
    created_at: trigger.createdAt,
    created_by: presentUserById(config, users, trigger.createdById),
    updated_at: trigger.updatedAt,
    updated_by: presentUserById(config, users, trigger.updatedById),
    pipeline: { id: pipeline.id, slug: pipeline.slug, url: api.pipeline(config, address) },
  };
}

function hint(lastTwo: string): string {
  return "X".repeat(20) + lastTwo;
}

/** The users in the JSON of a trigger. */
export function userIdsOfTrigger({ createdById, updatedById }: Trigger): string[] {
  return [createdById, updatedById];
}

export const filterTestBody = only("Filter test", {
  expression: triggerMembers.filter.create,
  delivery_id: text("Delivery id", 100).meta({ description: "A delivery whose payload is still kept" }),
});
