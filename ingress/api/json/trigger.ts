import { z } from "zod";
import type { User } from "../../../shared/accounts/user-store.ts";
import type { Cipher } from "../../../shared/crypto/cipher.ts";
import { api, endpointUrl } from "../../../shared/paths.ts";
import type { Pipeline } from "../../../shared/pipelines/store.ts";
import type { Config } from "../../../shared/runtime/config.ts";
import { environmentOf, lastTwoOf } from "../../../shared/triggers/settings.ts";
import type { Trigger } from "../../../shared/triggers/store.ts";
import { buildDefaults } from "../../../shared/triggers/types.ts";
import { presentUser, userSchema } from "../users.ts";
import * as field from "./fields.ts";

export const triggerSchema = z
  .object({
    id: field.id,
    url: field.url,
    type: z.string().meta({ description: "webhook, github or the issue tracker" }),
    label: z.string(),
    enabled: z.boolean(),
    build: z.object({
      message: z.string().nullable(),
      commit: z.string(),
      branch: z.string(),
      environment_variables: z
        .array(z.string())
        .meta({ description: "Their names: values are never shown again" }),
    }),
    filter: z.object({ expression: z.string().meta({ description: "CEL" }) }).nullable(),
    verification: z.object({ strategy: z.literal("hmac"), secret_hint: z.string() }).nullable(),
    endpoint_url_hint: z.string(),
    endpoint_url: field.url.optional().meta({ description: "In the answer to its creation only" }),
    created_at: field.timestamp,
    created_by: userSchema,
    updated_at: field.timestamp,
    updated_by: userSchema,
    pipeline: z.object({ id: field.id, slug: z.string(), url: field.url }),
  })
  .meta({ id: "PipelineTrigger" });

/** Where a trigger is, and who made and changed it. */
export interface TriggerContext {
  config: Config;
  cipher: Cipher;
  org: string;
  pipeline: Pipeline;
  users: ReadonlyMap<string, User>;
}

/** @param token of its URL, right after it was made */
export function presentTrigger(
  { config, cipher, org, pipeline, users }: TriggerContext,
  trigger: Trigger,
  token?: string,
) {
  const address = { org, slug: pipeline.slug };
  const by = (id: string) => {
    const user = users.get(id);
    return user ? presentUser(config, user) : null;
  };
  return {
    id: trigger.id,
    url: api.trigger(config, address, trigger.id),
    type: trigger.type,
    label: trigger.label,
    enabled: trigger.enabled,
    build: {
      message: trigger.buildMessage,
      commit: trigger.buildCommit ?? buildDefaults.commit,
      branch: trigger.buildBranch ?? buildDefaults.branch,
      environment_variables: Object.keys(environmentOf(cipher, trigger)),
    },
    filter: trigger.filter === null ? null : { expression: trigger.filter },
    verification:
      trigger.secretSealed === null
        ? null
        : { strategy: "hmac", secret_hint: hint(lastTwoOf(cipher.open(trigger.secretSealed))) },
    endpoint_url_hint: hint(trigger.tokenHint),
    ...(token === undefined ? {} : { endpoint_url: endpointUrl(config, token) }),
    created_at: trigger.createdAt,
    created_by: by(trigger.createdById),
    updated_at: trigger.updatedAt,
    updated_by: by(trigger.updatedById),
    pipeline: { id: pipeline.id, slug: pipeline.slug, url: api.pipeline(config, address) },
  };
}

/** Enough to tell secrets apart. */
export function hint(lastTwo: string): string {
  return "X".repeat(20) + lastTwo;
}

/** The ids of the users that a trigger's JSON shows. */
export function usersOfTrigger({ createdById, updatedById }: Trigger): string[] {
  return [createdById, updatedById];
}
