import { lockOrganization } from "../../accounts/organization-store.ts";
import type { Tx } from "../../db/database.ts";
import { dayMs, minuteMs, secondMs } from "../../durations.ts";
import { newId } from "../../ids.ts";
import { findQueue, findQueueByKey, type Queue } from "../../queues/store.ts";
import { excerpt, notFound, Refusal } from "../../refusal.ts";
import { afterMs, expiring } from "../../retention/expiring.ts";
import type { Services } from "../../services/services.ts";
import { stored } from "../../sharing/bounds.ts";
import { maxOf, roomProblems } from "../../sharing/room.ts";
import { later } from "../../tasks/store.ts";
import { isStorable } from "../../validation.ts";
import type { StackType } from "../../vocabulary.ts";
import { useAgentTokens } from "../token-store.ts";
import type { Registrar } from "../tokens.ts";
import {
  countStacks,
  deleteStack,
  deleteStacksLostBefore,
  findFirstLost,
  findStackByKey,
  insertStack,
  type Stack,
  seeIfUnheard,
  updateStack,
} from "./store.ts";

/** A stack is lost after so long without a call. */
export const maxSilenceMs = 5 * minuteMs;
/** Its calls are stored this often. */
const seenEveryMs = 30 * secondMs;

/** Public clients have different words for the default queue of a cluster. */
const defaultQueueKeys = ["__default__", "_default", "~", "-"];

export interface StackRegistration {
  key: string;
  type: StackType;
  queueKey: string;
  metadata: Record<string, string>;
}

/**
 * Registers a stack of the token's cluster, or changes the one that has the key.
 * @throws Refusal 422 if its queue is unknown, 403 if the organization has too many stacks
 */
export async function registerStack(
  services: Services,
  registrar: Registrar,
  { queueKey, ...given }: StackRegistration,
): Promise<{ stack: Stack; queue: Queue; isNew: boolean }> {
  const { db, config, events, log } = services;
  const { token, organization, cluster } = registrar;
  const queue = await findQueueOfStack(services, registrar, queueKey);
  if (!queue) throw new Refusal(422, `The token has no queue with the key ${excerpt(queueKey)}`);
  const registered = await db.transaction(async (tx) => {
    await lockOrganization(tx, organization.id);
    await useAgentTokens(tx, { ids: [token.id], now: tx.now });
    const known = await findStackByKey(tx, { clusterId: cluster.id, key: given.key });
    const change = { ...given, queueId: queue.id, seenAt: tx.now, lostAt: null };
    if (!known || known.lostAt) await makeRoom(tx, config, { organizationId: organization.id, known });
    if (known) return { stack: await updateStack(tx, known.id, change), isNew: false };
    const stack: Stack = {
      ...change,
      id: newId(tx.now),
      organizationId: organization.id,
      clusterId: cluster.id,
      createdAt: tx.now,
    };
    await insertStack(tx, stack);
    return { stack, isNew: true };
  });
  const { stack, isNew } = registered;
  if (!stack) throw notFound("stack");
  events.publish([`cluster:${cluster.id}`]);
  log.info({ stackId: stack.id, key: stack.key, isNew }, "a stack registered");
  return { stack, queue, isNew };
}

/** Lost stacks make room for others, the one that was lost first before them. @throws Refusal 403 */
async function makeRoom(
  tx: Tx,
  config: Services["config"],
  { organizationId, known }: { organizationId: string; known: Stack | undefined },
): Promise<void> {
  const connected = await countStacks(tx, organizationId, "connected");
  const [full] = await roomProblems(config, stored.stacks, async () => connected);
  if (full) throw new Refusal(403, full.message);
  if (known || (await countStacks(tx, organizationId, "all")) < maxOf(config, stored.stacks)) return;
  const first = await findFirstLost(tx, organizationId);
  if (first) await deleteStack(tx, first.id);
}

/**
 * A queue that the token's stacks may serve, by its key, or by a word for the default one of the cluster. That of a token
 * for one queue is this queue.
 */
export async function findQueueOfStack(
  { db }: Services,
  { cluster, queue: ownQueue }: Registrar,
  key: string,
): Promise<Queue | undefined> {
  const byKey = isStorable(key) ? await findQueueByKey(db, cluster.id, key) : undefined;
  const isDefault = !byKey && defaultQueueKeys.includes(key);
  const defaultId = ownQueue?.id ?? cluster.defaultQueueId;
  const queue = isDefault && defaultId ? await findQueue(db, cluster.id, defaultId) : byKey;
  return ownQueue && queue?.id !== ownQueue.id ? undefined : queue;
}

/**
 * A stack of the token's cluster. Each call of one comes through here, and shows that it is there.
 * @throws Refusal 404
 */
export async function requireStack(services: Services, registrar: Registrar, key: string): Promise<Stack> {
  const { db, clock, events } = services;
  const isKey = isStorable(key);
  const stack = isKey ? await findStackByKey(db, { clusterId: registrar.cluster.id, key }) : undefined;
  if (!stack) throw notFound("stack");
  const now = clock.now();
  const before = new Date(now.getTime() - seenEveryMs);
  if (!stack.lostAt && stack.seenAt >= before && stack.seenAt <= now) return stack;
  await db.transaction((tx) => seeIfUnheard(tx, stack.id, { before, now }));
  if (stack.lostAt) events.publish([`cluster:${stack.clusterId}`]);
  return { ...stack, seenAt: now, lostAt: null };
}

/** Ends a stack. The jobs that it reserved are scheduled again. */
export async function deregisterStack({ db, events, log }: Services, stack: Stack): Promise<void> {
  const { id, key, organizationId, clusterId } = stack;
  await db.transaction(async (tx) => {
    if (await deleteStack(tx, id)) await later(tx, "stack", organizationId, [id]);
  });
  events.publish([`cluster:${clusterId}`]);
  log.info({ stackId: id, key }, "a stack deregistered");
}

export const lostStacks = expiring("stacks", afterMs(dayMs), deleteStacksLostBefore);
