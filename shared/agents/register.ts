import { lockOrganization } from "../accounts/organization-store.ts";
import { requireStorage } from "../accounts/storage.ts";
import { stripControls } from "../control-characters.ts";
import { hashToken, issueToken } from "../crypto/tokens.ts";
import { newId } from "../ids.ts";
import type { Services } from "../process/services.ts";
import { findQueue, listStepQueues, type Queue } from "../queues/store.ts";
import { exactSize, excerpt, type Problem, Refusal, unprocessable } from "../refusal.ts";
import { stored } from "../sharing/bounds.ts";
import { roomProblems } from "../sharing/room.ts";
import { type Agent, countAgents, insertAgent } from "./store.ts";
import { updateAgentTokenIfActive } from "./token-store.ts";
import type { Registrar } from "./tokens.ts";

/** An agent's own description. */
export interface Registration {
  name: string;
  hostname: string;
  os: string;
  arch: string;
  version: string;
  build: string;
  pid: string | null;
  /** Tags, as `key=value`. */
  metaData: string[];
  priority: number | null;
  /** The agent takes only the job that it asks for by id. */
  ignoreInDispatches: boolean;
  ip: string;
  userAgent: string | null;
}

const maxNameLength = 255;
export const { tags: maxTags, bytes: maxTagBytes } = stored.tags.max;
const queueTag = /^queue=(.*)$/s;

/**
 * Registers an agent. It gets jobs once it is connected.
 * @returns its session token, which is stored only as a hash
 * @throws Refusal 422 if it has no queue, too long a name or too large tags, or if there are too many agents
 */
export async function registerAgent(
  services: Services,
  registrar: Registrar,
  registration: Registration,
): Promise<{ agent: Agent; accessToken: string }> {
  const { db, clock, config } = services;
  requireSmallTags(registration.metaData);
  const queue = await requireQueue(services, registrar, registration.metaData);
  const accessToken = issueToken("agentSession");
  const now = clock.now();
  const id = newId(now);
  const name = agentName(registration, id);
  if (name.length > maxNameLength)
    throw refuse("name", `Name is longer than ${maxNameLength} characters once its placeholders are filled`);
  const { token, organization, cluster } = registrar;
  const agent: Agent = {
    ...registration,
    id,
    organizationId: organization.id,
    clusterId: cluster.id,
    queueId: queue.id,
    metaData: withQueueTag(registration.metaData, queue.key),
    agentTokenId: token.id,
    tokenHash: hashToken(accessToken),
    name,
    state: "registered",
    jobId: null,
    lostJobId: null,
    createdAt: now,
    connectedAt: null,
    seenAt: now,
    lostAt: null,
    disconnectedAt: null,
    lastJobFinishedAt: null,
    stopRequestedAt: null,
    stopRequestedById: null,
    pausedAt: null,
    pausedById: null,
    pausedNote: null,
    pausedUntil: null,
  };
  await db.transaction(async (tx) => {
    await lockOrganization(tx, organization.id);
    await requireStorage(tx, config, organization.id);
    const countUpTo = (limit: number) => countAgents(tx, organization.id, limit);
    const full = await roomProblems(config, stored.agents, countUpTo);
    if (full.length > 0) throw unprocessable(...full);
    await insertAgent(tx, agent);
    await updateAgentTokenIfActive(tx, token.id, { lastUsedAt: now });
  });
  services.events.publish([`cluster:${cluster.id}`, `queue:${queue.id}`]);
  services.log.info({ agentId: id, name: agent.name, queueId: queue.id }, "an agent registered");
  return { agent, accessToken };
}

function requireSmallTags(tags: string[]): void {
  const bytes = tags.reduce((sum, tag) => sum + Buffer.byteLength(tag), 0);
  if (bytes <= maxTagBytes) return;
  throw refuse(
    "meta_data",
    `The tags have more than ${exactSize(maxTagBytes)} together: give fewer or shorter ones`,
  );
}

/** Agents leave some placeholders of their names to the server. A name is part of lines. */
function agentName({ name, hostname, pid }: Registration, id: string): string {
  const filled = name
    .replaceAll("%hostname", hostname)
    .replaceAll("%n", "1")
    .replaceAll("%pid", pid ?? "")
    .replaceAll("%random", id.slice(-8));
  const inLine = (text: string) => stripControls(text).trim();
  return inLine(filled) || `${inLine(hostname) || "agent"}-${id.slice(-4)}`;
}

/** Jobs read the queue of their agent from its tags. */
function withQueueTag(metaData: string[], key: string): string[] {
  return metaData.some((tag) => queueTag.test(tag)) ? metaData : [`queue=${key}`, ...metaData];
}

/** The queue of an agent: its tag, else its token's queue, else the default one of the cluster. */
async function requireQueue(
  { db }: Services,
  { cluster, queue: ownQueue }: Registrar,
  metaData: string[],
): Promise<Pick<Queue, "id" | "key">> {
  const keys = [...new Set(metaData.flatMap((tag) => queueTag.exec(tag)?.[1]?.trim() ?? []))];
  if (keys.length > 1) throw refuse("meta_data", "An agent has one queue: it can have only one queue tag");
  const [key] = keys;
  if (ownQueue) {
    if (ownQueue.deletedAt)
      throw refuse("meta_data", `The token's queue ${excerpt(ownQueue.key)} was deleted`);
    if (key === undefined || key === ownQueue.key) return ownQueue;
    throw refuse("meta_data", `The token registers agents of the queue ${excerpt(ownQueue.key)} only`);
  }
  if (key !== undefined) {
    const queues = await listStepQueues(db, { clusterIds: [cluster.id], keys: [key] });
    const queue = queues.find((each) => each.key === key);
    if (!queue) throw refuse("meta_data", `The cluster has no queue with the key ${excerpt(key)}`);
    return queue;
  }
  const byDefault = cluster.defaultQueueId
    ? await findQueue(db, cluster.id, cluster.defaultQueueId)
    : undefined;
  if (!byDefault)
    throw refuse("meta_data", "The cluster has no default queue: name one by the tag queue=<key>");
  return byDefault;
}

function refuse(field: "name" | "meta_data", message: string): Refusal {
  const problem: Problem = { field, message };
  return new Refusal(422, message, { problems: [problem] });
}
