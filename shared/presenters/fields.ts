import { z } from "zod";

// Members that many schemas share.

export const id = z.uuid().meta({ description: "UUID" });
export const graphql = z.string().meta({ description: "Id of the resource in GraphQL" });
export const url = z.url();
export const timestamp = z.iso.datetime().meta({ description: "UTC, milliseconds" });

/** The body of a refusal. */
export const problem = z
  .object({
    message: z.string(),
    reason: z.string().optional().meta({ description: "The cause, where the message does not say it" }),
  })
  .meta({ id: "Problem" });

/** A member of a step that has no effect here. */
export const stepWarning = z
  .object({
    step: z
      .string()
      .nullable()
      .meta({ description: "The label or key of the step, or its place. Null: the document" }),
    member: z.string(),
    reason: z.string().optional().meta({
      description: "Why it has none, or another effect than its author may expect",
    }),
    more: z.int().optional().meta({
      description: "Of the last one only, if the list was cut: how many others there are",
    }),
  })
  .meta({ id: "StepWarning" });
