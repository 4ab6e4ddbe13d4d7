import { z } from "zod";
import { cancelStep } from "../../shared/agents/inside/cancel-step.ts";
import { getStep, stepAttributes } from "../../shared/agents/inside/get-step.ts";
import { canceledBy, requireBuildInReach } from "../../shared/agents/inside/reach.ts";
import { updateStep } from "../../shared/agents/inside/update-step.ts";
import { isId, lowerCaseId } from "../../shared/ids.ts";
import { patterns } from "../../shared/paths.ts";
import * as field from "../../shared/presenters/fields.ts";
import { unprocessable } from "../../shared/refusal.ts";
import type { Services } from "../../shared/services/services.ts";
import { isStorable } from "../../shared/validation.ts";
import type { DataCaller } from "../auth/callers.ts";
import { type Operation, operation } from "../operations/operation.ts";
import { answer, done, tag, toBadRequest } from "./answers.ts";
import { refuseReadOnly } from "./read-only.ts";

const build = z
  .string({ error: "build_id must be text" })
  .nullish()
  .meta({ description: "A build of the job's cluster. Default: the job's own" });
const get = z.object({
  build_id: build,
  attribute: z
    .enum(stepAttributes, { error: `attribute must be one of ${stepAttributes.join(", ")}` })
    .or(z.literal("").transform(() => undefined))
    .nullish()
    .meta({ description: "Absent: the whole step" }),
  format: z
    .string()
    .regex(/^(json)?$/i, "format must be json")
    .nullish()
    .meta({ description: "`json`, in which alone lists, objects and whole steps are shown" }),
});
const update = z.object({
  build_id: build,
  idempotency_uuid: z
    .string({ error: "idempotency_uuid must be text" })
    .transform(lowerCaseId)
    .refine(isId, "idempotency_uuid must be a UUID")
    .nullish()
    .meta({ description: "Made by the caller. The same update again changes nothing" }),
  attribute: z.string({ error: "attribute must be text" }).meta({
    description: "`label`, `priority`, `parallelism`, `notify` or `notify.github_check.output.…`",
  }),
  value: z
    .string({ error: "value must be text" })
    .refine(isStorable, "value must be text without NUL")
    .nullish()
    .meta({ description: "`notify` takes JSON; `parallelism` can only be raised" }),
  append: z
    .boolean({ error: "append must be true or false" })
    .nullish()
    .meta({ description: "Adds to the label or the notices" }),
});
const maxGraceSeconds = 86_400;
const graceError = `force_grace_period must be a whole number from 0 to ${maxGraceSeconds}`;
const cancel = z.object({
  build_id: build,
  force: z.boolean({ error: "force must be true or false" }).nullish(),
  force_grace_period: z
    .int({ error: graceError })
    .min(0, graceError)
    .max(maxGraceSeconds, graceError)
    .nullish()
    .meta({ description: "Seconds. With `force`, jobs are then canceled, whatever their agents do" }),
});

/** The calls of programs in jobs for the steps of builds. */
export function stepOperations(services: Services): Operation[] {
  const inReach = (caller: DataCaller, id: string | null | undefined) =>
    requireBuildInReach(services.db, caller, id || caller.build.id);
  const common = { tag, caller: "insideJob" as const, translate: toBadRequest };
  return [
    operation({
      ...common,
      methods: ["POST"],
      path: patterns.exportStep,
      id: "exportStep",
      summary: "Read an attribute of a step, or all of it, by its id or key",
      description: "An attribute without a value is empty text.",
      body: { schema: get, isOptional: true, refuse: unprocessable },
      success: answer(z.object({ output: z.string() })),
      refusals: { 400: ["a member is missing or wrong"], 404: ["No such build or step"] },
      run: async ({ parameter, readBody, ...caller }) => {
        const { build_id, attribute, format } = await readBody();
        const build = await inReach(caller, build_id);
        const query = { step: parameter("step"), attribute: attribute ?? undefined, isJson: !!format };
        return { output: await getStep(services, build, query) };
      },
    }),
    operation({
      ...common,
      methods: ["PUT"],
      path: patterns.updateStep,
      id: "updateStep",
      summary: "Change an attribute of a step",
      body: { schema: update, refuse: unprocessable },
      success: done,
      refusals: {
        400: ["a member is missing or wrong"],
        403: ["The token may only read"],
        404: ["No such build or step"],
      },
      run: async ({ parameter, readBody, ...caller }) => {
        refuseReadOnly(caller);
        const { build_id, idempotency_uuid, attribute, value, append } = await readBody();
        const build = await inReach(caller, build_id);
        await updateStep(
          services,
          { jobId: caller.jobId, build },
          {
            step: parameter("step"),
            attribute,
            value: value ?? "",
            appends: append ?? false,
            id: idempotency_uuid ?? undefined,
          },
        );
        return {};
      },
    }),
    operation({
      ...common,
      methods: ["POST"],
      path: patterns.cancelStep,
      id: "cancelStep",
      summary: "Cancel the unfinished jobs of a step",
      body: { schema: cancel, isOptional: true, refuse: unprocessable },
      success: answer(z.object({ uuid: field.id.meta({ description: "Of the step" }) })),
      refusals: {
        400: ["a member is missing or wrong"],
        403: ["The token may only read"],
        404: ["No such build or step"],
      },
      run: async ({ parameter, readBody, ...caller }) => {
        refuseReadOnly(caller);
        const { build_id, force, force_grace_period } = await readBody();
        const build = await inReach(caller, build_id);
        const graceSeconds = force ? (force_grace_period ?? 0) : undefined;
        const reason = await canceledBy(services.db, caller);
        return { uuid: await cancelStep(services, build, { step: parameter("step"), graceSeconds, reason }) };
      },
    }),
  ];
}
