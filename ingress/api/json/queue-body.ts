import { z } from "zod";
import { badAffinity, isAffinity, type NewQueue, type QueueChange } from "../../../shared/queues/queues.ts";
import { findShape, shapes, unknownShape } from "../../../shared/queues/shapes.ts";
import { queueDescription, queueKey, text } from "../../../shared/validation.ts";

const affinityDocument = { type: "string", enum: ["prefer-warmest", "prefer-different"] } as const;
const notAnObject = "Hosted agents must be an object";

const isMissing = (value: unknown) => value === undefined || value === null || value === "";

/** A shape that exists, for a new queue (spec §4.3.2). */
const newShape = z.unknown().transform((given, context) => {
  const shape = typeof given === "string" ? findShape(given) : undefined;
  if (shape) return shape.name;
  const message = isMissing(given) ? "Instance shape can't be blank" : unknownShape(given);
  context.addIssue({ code: "custom", message });
  return z.NEVER;
});
const shapeDocument = { type: "string", enum: shapes.map(({ name }) => name) } as const;

const newHosted = z
  .object(
    { instanceShape: newShape.meta({ ...shapeDocument, description: "What the queue's agents run on" }) },
    { error: notAnObject },
  )
  .nullish();

/** Spec §4.3.1 and §4.3.2. Of a hosted queue the affinity is ignored, so it is not even looked at. */
export const createQueueBody = z
  .object({
    key: queueKey.meta({ description: "The queue's name in steps and agent tags; it stays" }),
    description: queueDescription.optional(),
    retry_agent_affinity: z
      .unknown()
      .optional()
      .meta({ ...affinityDocument, default: "prefer-warmest" }),
    hostedAgents: newHosted.meta({ description: "Makes the queue a hosted one" }),
  })
  .refine((body) => body.hostedAgents || isAbsentOrAffinity(body.retry_agent_affinity), {
    error: badAffinity.message,
    when: ({ value }) => typeof value === "object" && value !== null, // beside the reasons of other members
  })
  .transform(
    ({ key, description, retry_agent_affinity, hostedAgents }): NewQueue => ({
      key,
      description,
      retryAgentAffinity: isAffinity(retry_agent_affinity) ? retry_agent_affinity : undefined,
      instanceShape: hostedAgents?.instanceShape,
    }),
  );

function isAbsentOrAffinity(value: unknown): boolean {
  return value === undefined || isAffinity(value);
}

/** Spec §4.3.3. What is wrong with the hosted part depends on the queue, so the domain judges it. */
export const updateQueueBody = z
  .object({
    description: queueDescription.optional(),
    retry_agent_affinity: z.unknown().optional().meta(affinityDocument),
    hostedAgents: z
      .object(
        {
          instanceShape: z
            .unknown()
            .optional()
            .meta({
              ...shapeDocument,
              description: "The size can change, within the machine type and architecture that the queue has",
            }),
          agentImageRef: z
            .unknown()
            .optional()
            .meta({
              type: ["string", "null"],
              description: "Custom image of a hosted Linux queue; null: default",
            }),
        },
        { error: notAnObject },
      )
      .meta({ required: ["instanceShape"] }) // in the document; its absence has a sentence of its own
      .nullish(),
  })
  .transform(
    ({ description, retry_agent_affinity, hostedAgents }): QueueChange => ({
      description,
      retryAgentAffinity: retry_agent_affinity,
      hosted: hostedAgents ?? undefined,
    }),
  );

const note = text("Note", 2000).nullish();
const noteDocument = { type: ["string", "null"], maxLength: 2000 } as const;

/** Spec §4.3.4: the note is `dispatch_paused_note`, with `note` as its other name, looked at only without the first. */
export const pauseBody = z
  .object({
    dispatch_paused_note: z
      .unknown()
      .optional()
      .meta({ ...noteDocument, description: "Why the queue is paused" }),
    note: z
      .unknown()
      .optional()
      .meta({ ...noteDocument, description: "Another name of dispatch_paused_note, which wins" }),
  })
  .transform((body) => (body.dispatch_paused_note === undefined ? body.note : body.dispatch_paused_note))
  .pipe(note)
  .transform((given) => given || null);
