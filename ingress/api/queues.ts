import { z } from "zod";
import type { Organization } from "../../shared/accounts/organization-store.ts";
import { listUsersById } from "../../shared/accounts/user-store.ts";
import { requireCluster } from "../../shared/clusters/clusters.ts";
import { pauseDispatch, resumeDispatch } from "../../shared/dispatch/pause.ts";
import { patterns } from "../../shared/paths.ts";
import {
  createQueue,
  deleteQueue,
  newQueueProblems,
  queueChangeProblems,
  requireQueue,
  updateQueue,
} from "../../shared/queues/queues.ts";
import type { ShapeName } from "../../shared/queues/shapes.ts";
import { listQueuesPage, type Queue } from "../../shared/queues/store.ts";
import { unprocessable } from "../../shared/refusal.ts";
import type { Services } from "../../shared/services/services.ts";
import { readPage } from "../http/number-pager.ts";
import { type Call, type Operation, operation } from "../operations/operation.ts";
import { linkPages, pageQuery } from "./json/list.ts";
import {
  createQueueBody,
  pauseBody,
  presentQueue,
  queueSchema,
  updateQueueBody,
  userIdsOfQueue,
} from "./json/queue.ts";

const tag = "Queues";
const reading = { tag, scope: "read_clusters" as const };
const writing = { tag, scope: "write_clusters" as const, needsAdmin: true };

export function queueOperations(services: Services): Operation[] {
  const { db, config } = services;

  const clusterOf = ({ caller, parameter }: Pick<Call<unknown>, "caller" | "parameter">) =>
    requireCluster(db, caller.organization.id, parameter("cluster"));
  const queueOf = async (call: Pick<Call<unknown>, "caller" | "parameter">) =>
    requireQueue(db, await clusterOf(call), call.parameter("queue"));
  const present = async ({ slug }: Organization, queues: Queue[]) => {
    const users = await listUsersById(db, queues.flatMap(userIdsOfQueue));
    return queues.map((queue) => presentQueue(config, slug, queue, users));
  };
  const presentOne = async (organization: Organization, queue: Queue) =>
    (await present(organization, [queue]))[0];

  return [
    operation({
      ...reading,
      methods: ["GET"],
      path: patterns.queues,
      id: "listQueues",
      summary: "The queues of a cluster, oldest first",
      query: pageQuery,
      success: { status: 200, schema: z.array(queueSchema), description: "A page of queues" },
      run: async (call) => {
        const cluster = await clusterOf(call);
        const page = readPage(call.event);
        const list = await listQueuesPage(db, cluster.id, page);
        linkPages(call.event, { ...list, page }, config.baseUrl);
        return present(call.caller.organization, list.rows);
      },
    }),
    operation({
      ...writing,
      methods: ["POST"],
      path: patterns.queues,
      id: "createQueue",
      summary: "Create a queue, self-hosted or, with hostedAgents, hosted",
      body: { schema: createQueueBody },
      success: { status: 201, schema: queueSchema, description: "The new queue" },
      refusals: { 422: ["Validation failed: …"] },
      run: async (call) => {
        const cluster = await clusterOf(call);
        const input = await call.readBody((sound: Partial<z.input<typeof createQueueBody>>) =>
          newQueueProblems(db, call.actor, cluster, {
            ...(sound.key === undefined ? {} : { key: sound.key }),
            instanceShape: sound.hostedAgents?.instanceShape as ShapeName | undefined,
          }),
        );
        const queue = await createQueue(services, call.actor, cluster, input);
        return presentOne(call.caller.organization, queue);
      },
    }),
    operation({
      ...reading,
      methods: ["GET"],
      path: patterns.queue,
      id: "getQueue",
      summary: "A queue",
      success: { status: 200, schema: queueSchema, description: "The queue" },
      run: async (call) => presentOne(call.caller.organization, await queueOf(call)),
    }),
    operation({
      ...writing,
      methods: ["PUT", "PATCH"],
      path: patterns.queue,
      id: "updateQueue",
      summary: "Change a queue; absent members stay",
      body: { schema: updateQueueBody },
      success: { status: 200, schema: queueSchema, description: "The changed queue" },
      refusals: { 422: ["Validation failed: …"] },
      run: async (call) => {
        const queue = await queueOf(call);
        const change = await call.readBody((sound: Partial<z.input<typeof updateQueueBody>>) =>
          queueChangeProblems(call.actor, queue, {
            retryAgentAffinity: sound.retry_agent_affinity,
            hosted: sound.hostedAgents ?? undefined,
          }),
        );
        return presentOne(call.caller.organization, await updateQueue(services, call.actor, queue, change));
      },
    }),
    operation({
      ...writing,
      methods: ["DELETE"],
      path: patterns.queue,
      id: "deleteQueue",
      summary: "Delete an unused queue",
      success: { status: 204, description: "The queue is gone" },
      refusals: {
        422: [
          "Cluster queue is the default queue of its cluster",
          "Cluster queue is the target of N pipelines",
          "Cluster queue has N unfinished jobs",
        ],
      },
      run: async (call) => deleteQueue(services, call.actor, await queueOf(call)),
    }),
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
      success: { status: 200, schema: queueSchema, description: "The paused queue" },
      refusals: { 422: ["Cluster queue is already paused"] },
      run: async (call) => {
        const queue = await queueOf(call);
        const paused = await pauseDispatch(services, call.actor, queue, await call.readBody());
        return presentOne(call.caller.organization, paused);
      },
    }),
    operation({
      ...writing,
      methods: ["POST"],
      path: patterns.resumeDispatch,
      id: "resumeDispatch",
      summary: "Resume a queue: its jobs are handed out again",
      success: { status: 200, schema: queueSchema, description: "The queue" },
      refusals: { 422: ["Cluster queue is not paused"] },
      run: async (call) => {
        const resumed = await resumeDispatch(services, call.actor, await queueOf(call));
        return presentOne(call.caller.organization, resumed);
      },
    }),
  ];
}
