import type { z } from "zod";
import { requireCluster } from "../../../shared/clusters/clusters.ts";
import { pauseDispatch, resumeDispatch } from "../../../shared/dispatch/pause.ts";
import { patterns } from "../../../shared/paths.ts";
import {
  createQueue,
  deleteQueue,
  newQueueProblems,
  queueChangeProblems,
  requireQueue,
  updateQueue,
} from "../../../shared/queues/queues.ts";
import type { ShapeName } from "../../../shared/queues/shapes.ts";
import { listQueuesPage } from "../../../shared/queues/store.ts";
import { unprocessable } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import { type Operation, operation } from "../../operations/operation.ts";
import { createQueueBody, pauseBody, queueAnswer, updateQueueBody } from "../json/queue.ts";
import { resourceOperations } from "../resources/operations.ts";

export function queueOperations(services: Services): Operation[] {
  const { db } = services;
  const { operations, writing, find, presentOne } = resourceOperations(services, {
    tag: "Queues",
    scopes: { reading: "read_clusters", writing: "write_clusters" },
    paths: { list: patterns.queues, one: patterns.queue },
    json: queueAnswer,
    ownerOf: ({ caller, parameter }) => requireCluster(db, caller.organization.id, parameter("cluster")),
    find: (cluster, { parameter }) => requireQueue(db, cluster, parameter("queue")),
    list: {
      id: "listQueues",
      summary: "The queues of a cluster, oldest first",
      answer: "A page of queues",
      read: ({ id }, page) => listQueuesPage(db, id, page),
    },
    create: {
      id: "createQueue",
      summary: "Create a queue, self-hosted or, with hostedAgents, hosted",
      answer: "The new queue",
      body: createQueueBody,
      run: async ({ actor, readBody }, cluster) => {
        const input = await readBody((sound: { key?: string } & Partial<z.input<typeof createQueueBody>>) =>
          newQueueProblems(db, actor, cluster, {
            key: sound.key,
            instanceShape: sound.hostedAgents?.instanceShape as ShapeName | undefined,
          }),
        );
        return createQueue(services, actor, cluster, input);
      },
    },
    get: { id: "getQueue", summary: "A queue", answer: "The queue" },
    update: {
      id: "updateQueue",
      summary: "Change a queue; absent members stay",
      answer: "The changed queue",
      body: updateQueueBody,
      run: async ({ actor, readBody }, queue) => {
        const change = await readBody((sound: Partial<z.input<typeof updateQueueBody>>) =>
          queueChangeProblems(actor, queue, {
            retryAgentAffinity: sound.retry_agent_affinity,
            hosted: sound.hostedAgents ?? undefined,
          }),
        );
        return updateQueue(services, actor, queue, change);
      },
    },
    delete: {
      id: "deleteQueue",
      summary: "Delete an unused queue",
      answer: "The queue is gone",
      refusals: [
        "Cluster queue is the default queue of its cluster",
        "Cluster queue is the target of N pipelines",
        "Cluster queue has N unfinished jobs",
      ],
      run: ({ actor }, queue) => deleteQueue(services, actor, queue),
    },
  });

  return [
    ...operations,
    operation({
      ...writing,
      methods: ["POST"],
      path: patterns.pauseDispatch,
      id: "pauseDispatch",
      summary: "Pause a queue: its jobs are not handed out until it is resumed",
      body: {
        schema: pauseBody,
        isOptional: true,
        refuse: unprocessable,
      },
      success: { status: 200, schema: queueAnswer.schema, description: "The paused queue" },
      refusals: { 422: ["Cluster queue is already paused"] },
      run: async (call) => {
        const queue = await find(call);
        return presentOne(call, await pauseDispatch(services, call.actor, queue, await call.readBody()));
      },
    }),
    operation({
      ...writing,
      methods: ["POST"],
      path: patterns.resumeDispatch,
      id: "resumeDispatch",
      summary: "Resume a queue: its jobs are handed out again",
      success: { status: 200, schema: queueAnswer.schema, description: "The queue" },
      refusals: { 422: ["Cluster queue is not paused"] },
      run: async (call) => presentOne(call, await resumeDispatch(services, call.actor, await find(call))),
    }),
  ];
}
