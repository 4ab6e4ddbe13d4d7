import { z } from "zod";
import { countReserved } from "../../shared/agents/stacks/job-store.ts";
import { findStack, listStacksPage, type Stack } from "../../shared/agents/stacks/store.ts";
import { isId } from "../../shared/ids.ts";
import { patterns } from "../../shared/paths.ts";
import * as field from "../../shared/presenters/fields.ts";
import { listQueuesById } from "../../shared/queues/store.ts";
import { notFound } from "../../shared/refusal.ts";
import type { Services } from "../../shared/services/services.ts";
import { api } from "../../shared/settings/urls.ts";
import { stackTypes } from "../../shared/vocabulary.ts";
import type { Operation } from "../operations/operation.ts";
import { answerOf } from "./resources/answer.ts";
import { resourceOperations } from "./resources/operations.ts";

const maxCountedReserved = 1000;

type ShownStack = Stack & { queue: string; reserved: number };

const stackAnswer = answerOf<ShownStack>("Stack", {
  id: [field.id, ({ id }) => id],
  url: [field.url, ({ id }, { config, org }) => api.stack(config, org, id)],
  key: [z.string(), ({ key }) => key],
  type: [z.enum(stackTypes), ({ type }) => type],
  state: [z.enum(["connected", "lost"]), ({ lostAt }) => (lostAt ? "lost" : "connected")],
  metadata: [z.record(z.string(), z.string()), ({ metadata }) => metadata],
  cluster_id: [field.id, ({ clusterId }) => clusterId],
  cluster_url: [field.url, ({ clusterId }, { config, org }) => api.cluster(config, org, clusterId)],
  cluster_queue_id: [field.id, ({ queueId }) => queueId],
  queue: [
    z.string().meta({ description: "The key of the queue that it says it serves" }),
    ({ queue }) => queue,
  ],
  reserved_jobs_count: [
    z.int().meta({ description: "Jobs that it has reserved. It counts no further than 1,000" }),
    ({ reserved }) => reserved,
  ],
  created_at: [field.timestamp, ({ createdAt }) => createdAt],
  last_connected_at: [
    field.timestamp.meta({ description: "Its last call, within half a minute" }),
    ({ seenAt }) => seenAt,
  ],
  lost_at: [field.timestamp.nullable(), ({ lostAt }) => lostAt],
});

/** Stacks, as people and scripts see them. They register themselves (`ingress/agent/stacks`). */
export function stackOperations(services: Services): Operation[] {
  const { db } = services;
  const shown = async (stacks: Stack[]): Promise<ShownStack[]> => {
    const queueIds = stacks.map(({ queueId }) => queueId);
    const queues = await listQueuesById(db, queueIds);
    const ids = stacks.map(({ id }) => id);
    const reserved = await countReserved(db, ids, maxCountedReserved);
    return stacks.map((stack) => ({
      ...stack,
      queue: queues.get(stack.queueId)?.key ?? "",
      reserved: reserved.get(stack.id) ?? 0,
    }));
  };
  return resourceOperations(services, {
    tag: "Agents",
    scopes: { reading: "read_agents" },
    paths: { list: patterns.stacks, one: patterns.stack },
    json: stackAnswer,
    ownerOf: async ({ caller }) => caller.organization,
    find: async (organization, { parameter }) => {
      const id = parameter("stack");
      const stack = isId(id) ? await findStack(db, organization.id, id) : undefined;
      if (!stack) throw notFound("stack");
      return (await shown([stack]))[0] as ShownStack;
    },
    list: {
      id: "listStacks",
      summary: "The connected and lost stacks of an organization, oldest first",
      answer: "A page of stacks",
      read: async ({ id }, page) => {
        const listed = await listStacksPage(db, { organizationId: id }, page);
        return { ...listed, rows: await shown(listed.rows) };
      },
    },
    get: { id: "getStack", summary: "A stack", answer: "The stack" },
  }).operations;
}
