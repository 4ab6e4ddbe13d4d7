import { z } from "zod";
import { shapeOf, toColumns } from "../../../shared/members/bodies.ts";
import * as field from "../../../shared/presenters/fields.ts";
import { userSchema } from "../../../shared/presenters/user.ts";
import {
  badAffinity,
  isAffinity,
  type NewQueue,
  type QueueChange,
  queueMembers,
} from "../../../shared/queues/members.ts";
import { findShape, requireShape, shapes, unknownShape } from "../../../shared/queues/shapes.ts";
import type { Queue } from "../../../shared/queues/store.ts";
import { api, web } from "../../../shared/settings/urls.ts";
import { blankToNull, maxNoteLength, pauseNote } from "../../../shared/validation.ts";
import { answerOf, created, declared, identified, user } from "../resources/answer.ts";

const shapeName = z.enum(shapes.map(({ name }) => name) as [string, ...string[]]);

const hostedAgents = z.object({
  instance_shape: z.object({
    machine_type: z.enum(["linux", "macos", "windows"]),
    architecture: z.enum(["amd64", "arm64"]),
    cpu: z.int(),
    memory: z.int().meta({ description: "GB" }),
    name: shapeName,
  }),
  platform_settings: z.object({
    linux: z.object({ agent_image_ref: z.string().nullable() }).optional(),
  }),
});

export const queueAnswer = answerOf<Queue>("Queue", {
  ...identified("ClusterQueue"),
  ...declared(queueMembers),
  url: [field.url, (queue, { config, org }) => api.queue(config, addressOf(queue, org))],
  web_url: [field.url, (queue, { config, org }) => web.queue(config, addressOf(queue, org))],
  cluster_url: [field.url, ({ clusterId }, { config, org }) => api.cluster(config, org, clusterId)],
  dispatch_paused: [z.boolean(), ({ dispatchPausedAt }) => dispatchPausedAt !== null],
  dispatch_paused_by: user(({ dispatchPausedById }) => dispatchPausedById, userSchema.nullable()),
  dispatch_paused_at: [field.timestamp.nullable(), ({ dispatchPausedAt }) => dispatchPausedAt],
  dispatch_paused_note: [z.string().nullable(), ({ dispatchPausedNote }) => dispatchPausedNote],
  ...created,
  hosted: [
    z.literal(true).optional().meta({ description: "On hosted queues" }),
    ({ instanceShape }) => (instanceShape === null ? undefined : true),
  ],
  hosted_agents: [
    hostedAgents.optional().meta({ description: "On hosted queues" }),
    ({ instanceShape, agentImageRef }) =>
      instanceShape === null ? undefined : presentHosted(instanceShape, agentImageRef),
  ],
});

function addressOf({ clusterId, id }: Queue, org: string) {
  return { org, cluster: clusterId, queue: id };
}

function presentHosted(shapeName: string, agentImageRef: string | null) {
  const { name, machineType, architecture, cpu, memoryGb } = requireShape(shapeName);
  return {
    instance_shape: { machine_type: machineType, architecture, cpu, memory: memoryGb, name },
    platform_settings: machineType === "linux" ? { linux: { agent_image_ref: agentImageRef } } : {},
  };
}

const affinityDocument = { type: "string", enum: ["prefer-warmest", "prefer-different"] } as const;
const notAnObject = "Hosted agents must be an object";

const isMissing = (value: unknown) => value === undefined || value === null || value === "";

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
    {
      instanceShape: newShape.meta({
        ...shapeDocument,
        description: "The machine that the queue's agents run on",
      }),
    },
    { error: notAnObject },
  )
  .nullish();

/** A hosted queue ignores the affinity, even a malformed one (ingress/api/README.md, "Queues"). */
export const createQueueBody = z
  .object({
    ...(shapeOf(queueMembers, "create") as object),
    retry_agent_affinity: z
      .unknown()
      .optional()
      .meta({ ...affinityDocument, default: "prefer-warmest" }),
    hostedAgents: newHosted.meta({ description: "Makes the queue a hosted one" }),
  })
  .refine((body) => body.hostedAgents || isAbsentOrAffinity(body.retry_agent_affinity), {
    error: badAffinity.message,
    path: [badAffinity.field],
    when: ({ value }) => typeof value === "object" && value !== null, // report it beside other problems
  })
  .transform(({ retry_agent_affinity, hostedAgents, ...body }) => ({
    ...(toColumns(queueMembers, body) as unknown as NewQueue),
    retryAgentAffinity: isAffinity(retry_agent_affinity) ? retry_agent_affinity : undefined,
    instanceShape: hostedAgents?.instanceShape,
  }));

function isAbsentOrAffinity(value: unknown): boolean {
  return value === undefined || isAffinity(value);
}

/** The domain checks the hosted members, because their rules depend on the queue. */
export const updateQueueBody = z
  .object({
    ...(shapeOf(queueMembers, "change") as object),
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
      .meta({ required: ["instanceShape"] }) // for the document only; the domain refuses its absence
      .nullish(),
  })
  .transform(
    ({ hostedAgents, ...body }): QueueChange => ({
      ...(toColumns(queueMembers, body) as QueueChange),
      hosted: hostedAgents ?? undefined,
    }),
  );

const noteDocument = { type: ["string", "null"], maxLength: maxNoteLength } as const;

/** `note` is another name of `dispatch_paused_note`, and read only without it. */
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
  .pipe(pauseNote.nullish())
  .transform(blankToNull);
