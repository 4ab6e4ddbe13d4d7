import { z } from "zod";
import { only } from "../../../shared/members/only.ts";
import type { PipelineFacts } from "../../../shared/pipelines/store.ts";
import * as field from "../../../shared/presenters/fields.ts";
import type { Services } from "../../../shared/services/services.ts";
import { api, endpointUrl } from "../../../shared/settings/urls.ts";
import { buildOf, environmentOf, lastTwoOf, secretOf } from "../../../shared/triggers/columns.ts";
import { triggerMembers } from "../../../shared/triggers/members.ts";
import type { Trigger } from "../../../shared/triggers/store.ts";
import { typeOfTrigger } from "../../../shared/triggers/types.ts";
import { text } from "../../../shared/validation.ts";
import { type Answer, answerOf, created, declared, updated } from "../resources/answer.ts";

/** Right after it was created it has the token of its address. */
export type TriggerOfPipeline = Trigger & { pipeline: PipelineFacts; token?: string };

const shownAnswer = answerOf<TriggerOfPipeline>("PipelineTrigger", {
  id: [field.id, ({ id }) => id],
  url: [field.url, ({ id, pipeline: { slug } }, { config, org }) => api.trigger(config, { org, slug }, id)],
  ...declared(triggerMembers, {
    filter: (shape) => z.object(shape).nullable(),
    verification: (shape) =>
      z
        .object(shape)
        .nullable()
        .meta({ description: "Triggers of type hmac have header, algorithm, encoding and prefix too" }),
  }),
  endpoint_url_hint: [z.string(), ({ tokenHint }) => hint(tokenHint)],
  endpoint_url: [
    field.url.optional().meta({ description: "In the answer to its creation only" }),
    ({ token }, { config }) => token && endpointUrl(config, token),
  ],
  ...created,
  ...updated,
  pipeline: [
    z.object({ id: field.id, slug: z.string(), url: field.url }),
    ({ pipeline: { id, slug } }, { config, org }) => ({ id, slug, url: api.pipeline(config, { org, slug }) }),
  ],
});

export function triggerAnswer({ cipher }: Pick<Services, "cipher">): Answer<TriggerOfPipeline> {
  return {
    ...shownAnswer,
    present: (trigger, context) => {
      const secret = secretOf(cipher, trigger);
      const shown = {
        ...trigger,
        ...buildOf(trigger),
        type: typeOfTrigger(context.config.issueTracker, trigger).name,
        environment: Object.keys(environmentOf(cipher, trigger)),
        filter: trigger.filter ?? undefined,
        ...(secret !== undefined && {
          strategy: "hmac",
          secret: hint(lastTwoOf(secret)),
          ...trigger.signature,
        }),
      };
      return shownAnswer.present(shown as never, context);
    },
  };
}

function hint(lastTwo: string): string {
  return "X".repeat(20) + lastTwo;
}

export const filterTestBody = only("Filter test", {
  expression: triggerMembers.filter.create,
  delivery_id: text("Delivery id", 100).meta({ description: "A delivery whose payload is still kept" }),
});
