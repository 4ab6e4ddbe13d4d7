import { lockOrganization } from "../accounts/organization-store.ts";
import { requireStorage } from "../accounts/storage.ts";
import { stripControls } from "../control-characters.ts";
import { hashToken, issueToken } from "../crypto/tokens.ts";
import { newId } from "../ids.ts";
import { findQueue, listStepQueues, type Queue } from "../queues/store.ts";
import { exactSize, excerpt, type Problem, Refusal, unprocessable } from "../refusal.ts";
import type { Services } from "../services/services.ts";
import { stored } from "../sharing/bounds.ts";
import { openGatherers } from "../sharing/gatherer.ts";
import { maxOf, roomProblems } from "../sharing/room.ts";
import { numberNames } from "./names/number.ts";
import { type Agent, countAgents, insertAgents } from "./store.ts";
import { useAgentTokens } from "./token-store.ts";
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

const maxRegistering = 100;

export interface Registered {
  agent: Agent;
  /** The token of its session, which is stored only as a hash. */
  accessToken: string;
}

/**
 * Registers an agent. It gets jobs once it is connected.
 * @throws Refusal 422 if it has no queue, too long a name or too large tags, or if there are too many agents
 */
export type Register = (registrar: Registrar, registration: Registration) => Promise<Registered>;

/** Agents of an organization that register together share a commit. */
export function openRegister(services: Services): Register {
  const gatherers = openGatherers<Agent, Agent>(({ organizationId }) => organizationId, {
    maxItems: maxRegistering,
    flush: (agents) => storeAgents(services, agents),
  });
  return async (registrar, registration) => {
    const { agent: asked, accessToken } = await newAgent(services, registrar, registration);
    const agent = await gatherers.add(asked);
    const { id, name, clusterId, queueId } = agent;
    services.events.publish([`cluster:${clusterId}`, `queue:${queueId}`]);
    services.log.info({ agentId: id, name, queueId }, "an agent registered");
    return { agent, accessToken };
  };
}

async function newAgent(
  services: Services,
  registrar: Registrar,
  registration: Registration,
): Promise<Registered> {
  requireSmallTags(registration.metaData);
  const queue = await requireQueue(services, registrar, registration.metaData);
  const accessToken = issueToken("agentSession");
  const now = services.clock.now();
  const id = newId(now);
  const name = agentName(registration, id);
  const isNumbered = name.includes("%n");
  if (name.replaceAll("%n", "1").length > maxNameLength)
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
    namePattern: isNumbered ? name : null,
    nameNumber: null,
    state: "registered",
    jobId: null,
    lostJobId: null,
    unacceptedJobId: null,
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
  return { agent, accessToken };
}

/**
 * Stores agents of an organization, as many as it has room for.
 * @returns them with their names, or the refusals of the others
 */
async function storeAgents({ db, config }: Services, agents: Agent[]): Promise<(Agent | Refusal)[]> {
  const [{ organizationId, createdAt: now }] = agents as [Agent];
  return db.transaction(async (tx) => {
    await lockOrganization(tx, organizationId);
    await requireStorage(tx, config, organizationId);
    const present = await countAgents(tx, organizationId, maxOf(config, stored.agents));
    const refusals: (Refusal | undefined)[] = [];
    for (const index of agents.keys()) {
      const full = await roomProblems(config, stored.agents, async () => present + index);
      refusals.push(full.length > 0 ? unprocessable(...full) : undefined);
    }
    const admitted = await numberNames(
      tx,
      agents.filter((_, index) => refusals[index] === undefined),
    );
    await insertAgents(tx, admitted);
    const tokenIds = [...new Set(admitted.map(({ agentTokenId }) => agentTokenId))];
    await useAgentTokens(tx, { ids: tokenIds, now });
    const named = new Map(admitted.map((agent) => [agent.id, agent]));
    return agents.map((agent, index) => refusals[index] ?? named.get(agent.id) ?? agent);
  });
}

function requireSmallTags(tags: string[]): void {
  const bytes = tags.reduce((sum, tag) => sum + Buffer.byteLength(tag), 0);
  if (bytes <= maxTagBytes) return;
  throw refuse(
    "meta_data",
    `The tags have more than ${exactSize(maxTagBytes)} together: give fewer or shorter ones`,
  );
}

/** Agents leave some placeholders of their names to the server. `%n` stays until they are stored. A name is part of lines. */
function agentName({ name, hostname, pid }: Registration, id: string): string {
  const filled = name
    .replaceAll("%hostname", hostname)
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
