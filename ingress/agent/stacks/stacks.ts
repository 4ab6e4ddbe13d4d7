import { z } from "zod";
import { deregisterStack, registerStack } from "../../../shared/agents/stacks/register.ts";
import type { Stack } from "../../../shared/agents/stacks/store.ts";
import { patterns } from "../../../shared/paths.ts";
import * as field from "../../../shared/presenters/fields.ts";
import { unprocessable } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import { isStorable } from "../../../shared/validation.ts";
import { stackTypes } from "../../../shared/vocabulary.ts";
import { limitCalls } from "../../http/limits/limits.ts";
import { json } from "../../http/respond.ts";
import { type Operation, operation } from "../../operations/operation.ts";
import { tag } from "../answers.ts";

const maxKeyLength = 80;
const maxMetadata = { keys: 100, keyLength: 64, valueLength: 256 };

const key = z
  .string({ error: "key is required" })
  .min(1, { error: "key is required" })
  .max(maxKeyLength, { error: `key can have ${maxKeyLength} characters at most` })
  // A path must be able to name it: servers resolve segments of dots.
  .regex(/^(?!\.{1,2}$)[\w.-]+$/, {
    error: "key can have letters, digits, underscores, dashes and dots only",
  });
const metadataText = (what: string, max: number) =>
  z
    .string({ error: `${what} of metadata must be text` })
    .max(max, { error: `${what} of metadata can have ${max} characters at most` })
    .refine(isStorable, { error: `${what} of metadata must be text without null characters` });

const registration = z
  .object({
    key,
    type: z.enum(stackTypes, { error: `type must be one of ${stackTypes.join(", ")}` }),
    queue_key: z.string({ error: "queue_key is required" }).min(1, { error: "queue_key is required" }),
    metadata: z
      .record(
        metadataText("A key", maxMetadata.keyLength),
        metadataText("A value", maxMetadata.valueLength),
        {
          error: "metadata must be an object of texts",
        },
      )
      .refine((given) => Object.keys(given).length <= maxMetadata.keys, {
        error: `metadata can have ${maxMetadata.keys} keys at most`,
      })
      .nullish(),
  })
  .transform(({ queue_key, metadata, ...given }) => ({
    ...given,
    queueKey: queue_key,
    metadata: metadata ?? {},
  }));

const registered = z.object({
  id: field.id,
  organization_uuid: field.id,
  cluster_queue_key: z.string(),
  key: z.string(),
  type: z.enum(stackTypes),
  metadata: z.record(z.string(), z.string()),
  last_connected_on: field.timestamp,
  state: z.enum(["connected", "disconnected", "lost"]),
});

function presentRegistered({ id, organizationId, key, type, metadata, seenAt }: Stack, queueKey: string) {
  return {
    id,
    organization_uuid: organizationId,
    cluster_queue_key: queueKey,
    key,
    type,
    metadata,
    last_connected_on: seenAt,
    state: "connected",
  };
}

/** The beginning and the end of a stack: a scheduler that starts an agent for each job, such as that of Kubernetes. */
export function stackOperations(services: Services): Operation[] {
  return [
    operation({
      tag,
      caller: "registrar",
      methods: ["POST"],
      path: patterns.registerStack,
      id: "registerStack",
      summary: "Register a stack, or change the one that has the key",
      description:
        "The queue `__default__` is that of the token, else the cluster's default. 200: the stack was there.",
      body: { schema: registration, refuse: unprocessable },
      success: { status: 201, schema: registered, description: "The stack" },
      refusals: {
        403: ["Organization has reached its limit of stacks"],
        422: ["The token has no queue with the key …"],
        429: ["Too many stacks and agents registered: wait as Retry-After says"],
      },
      run: async ({ registrar, organizationId, readBody }) => {
        await limitCalls(services, "registrations", organizationId);
        const { stack, queue, isNew } = await registerStack(services, registrar, await readBody());
        return json(isNew ? 201 : 200, presentRegistered(stack, queue.key));
      },
    }),
    operation({
      tag,
      caller: "stack",
      methods: ["POST"],
      path: patterns.deregisterStack,
      id: "deregisterStack",
      summary: "End a stack; the jobs that it reserved are scheduled again",
      success: { status: 204, description: "The stack is gone" },
      run: ({ stack }) => deregisterStack(services, stack),
    }),
  ];
}
