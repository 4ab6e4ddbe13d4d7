import {
  and,
  asc,
  count,
  desc,
  eq,
  gt,
  inArray,
  isNotNull,
  isNull,
  lt,
  lte,
  ne,
  or,
  type SQL,
  sql,
} from "drizzle-orm";
import type { Db, Tx } from "../db/database.ts";
import { findBy, isOneOf, listBy, prepared, preparedRow, valueFor } from "../db/prepared.ts";
import type { Tables } from "../db/schema.ts";
import { putNewsOfAgents } from "../news/put.ts";
import { uncount } from "../retention/records.ts";
import { type AgentState, agentStates } from "../vocabulary.ts";

export type Agent = Tables["agents"]["$inferSelect"];
type ToldAgent = Pick<Agent, "id" | "organizationId">;

export async function insertAgents(tx: Tx, agents: Agent[]): Promise<void> {
  await tx.insertMany(tx.tables.agents, agents);
}

const present = agentStates.filter((state) => state !== "disconnected");

const presentAgents = preparedRow<{ organizationId: string; limit: number }, { total: number }, Tx>((tx) => {
  const { organizationId, state } = tx.tables.agents;
  const some = tx
    .select({ one: sql`1`.as("one") })
    .from(tx.tables.agents)
    .where(and(eq(organizationId, sql.placeholder("organizationId")), inArray(state, present)))
    .limit(sql.placeholder("limit"))
    .as("some");
  return tx.select({ total: count() }).from(some);
});

/** Counts agents that have not disconnected. */
export async function countAgents(tx: Tx, organizationId: string, limit: number): Promise<number> {
  return (await presentAgents(tx, { organizationId, limit }))?.total ?? 0;
}

export const listAgentsByTokenHash = listBy<Agent, Db>(({ agents }) => agents.tokenHash);

/** The columns of an agent that a ping reads: a whole row takes as long as all else. */
export type PingingAgent = Pick<
  Agent,
  | "id"
  | "organizationId"
  | "queueId"
  | "tokenHash"
  | "state"
  | "jobId"
  | "lostJobId"
  | "unacceptedJobId"
  | "ignoreInDispatches"
  | "stopRequestedAt"
  | "pausedAt"
  | "pausedUntil"
  | "pausedNote"
  | "priority"
  | "lastJobFinishedAt"
>;

export const listPingingAgents = prepared<{ hashes: string[] }, PingingAgent, Db>((db) => {
  const { agents } = db.tables;
  const { id, organizationId, queueId, tokenHash, state, jobId, lostJobId } = agents;
  const { ignoreInDispatches, stopRequestedAt, pausedAt, pausedUntil, pausedNote } = agents;
  const { priority, lastJobFinishedAt, unacceptedJobId } = agents;
  return db
    .select({
      id,
      organizationId,
      queueId,
      tokenHash,
      state,
      jobId,
      lostJobId,
      ignoreInDispatches,
      stopRequestedAt,
      pausedAt,
      pausedUntil,
      pausedNote,
      priority,
      lastJobFinishedAt,
      unacceptedJobId,
    })
    .from(agents)
    .where(isOneOf(tokenHash, "hashes"));
});

export const listTags = prepared<{ ids: string[] }, Pick<Agent, "id" | "metaData">, Db>((db) => {
  const { id, metaData } = db.tables.agents;
  return db.select({ id, metaData }).from(db.tables.agents).where(isOneOf(id, "ids"));
});

export const findAgent = findBy<Agent>(({ agents }) => agents.id);

/** An agent that asks for a job no longer runs the job that it lost. */
export async function clearLostJobs(tx: Tx, ids: string[]): Promise<void> {
  const { agents } = tx.tables;
  await tx
    .update(agents)
    .set({ lostJobId: null })
    .where(and(inArray(agents.id, ids), isNotNull(agents.lostJobId)));
}

/** registered, lost → connected. */
export async function connectIfNot(tx: Tx, given: { ids: string[]; now: Date }): Promise<ToldAgent[]> {
  const connected = await connect(tx, given);
  await putNewsOfAgents(tx, connected, "agent.connected");
  return connected;
}

const connect = prepared<{ ids: string[]; now: Date }, ToldAgent, Tx>((tx) => {
  const { agents } = tx.tables;
  return tx
    .update(agents)
    .set({
      state: "connected",
      connectedAt: valueFor(agents.connectedAt, "now"),
      seenAt: valueFor(agents.seenAt, "now"),
      lostAt: null,
    })
    .where(and(isOneOf(agents.id, "ids"), inArray(agents.state, ["registered", "lost"])))
    .returning({ id: agents.id, organizationId: agents.organizationId });
});

/** registered, connected, lost → disconnected, while it has the job that it was read with. */
export async function disconnectIfPresent(
  tx: Tx,
  { id, jobId }: Pick<Agent, "id" | "jobId">,
  now: Date,
): Promise<Agent | undefined> {
  const { agents } = tx.tables;
  const [gone] = await tx
    .update(agents)
    .set({ state: "disconnected", disconnectedAt: now, jobId: null })
    .where(and(eq(agents.id, id), ne(agents.state, "disconnected"), hasJob(tx, jobId)))
    .returning();
  if (!gone) return undefined;
  // An agent that was asked to stop has done so by now.
  if (gone.stopRequestedAt) await putNewsOfAgents(tx, [gone], "agent.stopped");
  await putNewsOfAgents(tx, [gone], "agent.disconnected");
  return gone;
}

/** connected → lost, while it has the job that it was read with. */
export async function loseIfUnseen(
  tx: Tx,
  { id, jobId }: Pick<Agent, "id" | "jobId">,
  { seenBefore, now }: { seenBefore: Date; now: Date },
): Promise<Agent | undefined> {
  const { agents } = tx.tables;
  const [lost] = await tx
    .update(agents)
    .set({ state: "lost", lostAt: now, jobId: null, lostJobId: jobId })
    .where(
      and(eq(agents.id, id), eq(agents.state, "connected"), lt(agents.seenAt, seenBefore), hasJob(tx, jobId)),
    )
    .returning();
  if (lost) await putNewsOfAgents(tx, [lost], "agent.lost");
  return lost;
}

function hasJob({ tables: { agents } }: Tx, jobId: string | null): SQL {
  return jobId === null ? isNull(agents.jobId) : eq(agents.jobId, jobId);
}

/** Agents in a state that were last seen before a time, the longest unseen first. */
export async function listUnseenAgents(
  db: Db,
  state: AgentState,
  { seenBefore, limit, offset }: { seenBefore: Date; limit: number; offset: number },
): Promise<Agent[]> {
  const { agents } = db.tables;
  return db
    .select()
    .from(agents)
    .where(and(eq(agents.state, state), lt(agents.seenAt, seenBefore)))
    .orderBy(asc(agents.seenAt), asc(agents.id))
    .limit(limit)
    .offset(offset);
}

/** Connected agents that were last seen after a time. */
export async function listAgentsSeenAfter(db: Db, time: Date, limit: number): Promise<string[]> {
  const { agents } = db.tables;
  const found = await db
    .select({ id: agents.id })
    .from(agents)
    .where(and(eq(agents.state, "connected"), gt(agents.seenAt, time)))
    .limit(limit);
  return found.map(({ id }) => id);
}

const setSeen = prepared<{ ids: string[]; now: Date }, { id: string }, Tx>((tx) => {
  const { agents } = tx.tables;
  return tx
    .update(agents)
    .set({ seenAt: valueFor(agents.seenAt, "now") })
    .where(isOneOf(agents.id, "ids"))
    .returning({ id: agents.id });
});

const lockIfFree = prepared<{ ids: string[] }, Agent, Tx>((tx) => {
  const { agents } = tx.tables;
  return tx.lock(agents, isOneOf(agents.id, "ids"), "if-free");
});

/** Locks the given agents, but skips agents that another transaction has locked. Returns the ids of the locked ones. */
export async function lockAgentsIfFree(tx: Tx, ids: string[]): Promise<string[]> {
  const locked = await lockIfFree(tx, { ids });
  return locked.map(({ id }) => id);
}

/** Leaves out agents that another transaction has locked: all others would wait for it. */
export async function markSeen(tx: Tx, ids: string[], now: Date): Promise<void> {
  await setSeen(tx, { ids: await lockAgentsIfFree(tx, ids), now });
}

/**
 * Gives a job to an agent that is free.
 * @param formerJobId the job that the agent was read with, which it has no longer
 */
export const reserveIfFree = preparedRow<
  { id: string; jobId: string; formerJobId: string | null; now: Date },
  { id: string },
  Tx
>((tx) => {
  const { agents } = tx.tables;
  return tx
    .update(agents)
    .set({ jobId: valueFor(agents.jobId, "jobId"), lostJobId: null })
    .where(
      and(
        eq(agents.id, sql.placeholder("id")),
        eq(agents.state, "connected"),
        sql`${agents.jobId} is not distinct from ${valueFor(agents.jobId, "formerJobId")}`,
        isNull(agents.stopRequestedAt),
        or(isNull(agents.pausedAt), lte(agents.pausedUntil, valueFor(agents.pausedUntil, "now"))),
      ),
    )
    .returning({ id: agents.id });
});

/** Ends an agent's hold on a job. */
export const freeIfHas = preparedRow<{ id: string; jobId: string }, { id: string }, Tx>((tx) => {
  const { agents } = tx.tables;
  return tx.update(agents).set({ jobId: null }).where(hasGivenJob(tx)).returning({ id: agents.id });
});

/** Ends an agent's hold on a job that it did not accept in time. Others come before it from now on. */
export const freeUnaccepted = preparedRow<{ id: string; jobId: string }, { id: string }, Tx>((tx) => {
  const { agents } = tx.tables;
  return tx
    .update(agents)
    .set({ jobId: null, unacceptedJobId: valueFor(agents.unacceptedJobId, "jobId") })
    .where(hasGivenJob(tx))
    .returning({ id: agents.id });
});

/**
 * Ends an agent's hold on a job that it finished.
 * @param isLast the agent takes no further job
 */
export const freeIfFinished = preparedRow<
  { id: string; jobId: string; isLast: boolean; now: Date },
  { id: string },
  Tx
>((tx) => {
  const { agents } = tx.tables;
  const { ignoreInDispatches } = agents;
  return tx
    .update(agents)
    .set({
      jobId: null,
      unacceptedJobId: null,
      lastJobFinishedAt: valueFor(agents.lastJobFinishedAt, "now"),
      ignoreInDispatches: sql`${ignoreInDispatches} or ${valueFor(ignoreInDispatches, "isLast")}`,
    })
    .where(hasGivenJob(tx))
    .returning({ id: agents.id });
});

function hasGivenJob(tx: Tx): SQL | undefined {
  const { agents } = tx.tables;
  return and(eq(agents.id, sql.placeholder("id")), eq(agents.jobId, sql.placeholder("jobId")));
}

/** Connected agents of a queue that may take jobs; the one that finished a job last comes first. */
export async function listReadyAgents(tx: Tx, queueId: string, now: Date, limit: number): Promise<Agent[]> {
  const { agents } = tx.tables;
  return tx
    .select()
    .from(agents)
    .where(isReady(tx, queueId, now))
    .orderBy(desc(agents.lastJobFinishedAt), asc(agents.id))
    .limit(limit);
}

const maxFree = 100;

/** Ready agents of a queue that have no job. */
export async function listFreeAgents(tx: Tx, queueId: string, now: Date): Promise<ReadyAgent[]> {
  const { agents } = tx.tables;
  const { id, metaData, unacceptedJobId } = agents;
  return tx
    .select({ id, metaData, unacceptedJobId })
    .from(agents)
    .where(and(isReady(tx, queueId, now), isNull(agents.jobId)))
    .orderBy(asc(id))
    .limit(maxFree);
}

type ReadyAgent = Pick<Agent, "id" | "metaData" | "unacceptedJobId">;

/** Ready agents of a queue with a priority that have no job, the highest first. */
export const listPreferredAgents = prepared<{ queueId: string; now: Date }, PreferredAgent, Tx>((tx) => {
  const { agents } = tx.tables;
  const { id, priority, metaData } = agents;
  return tx
    .select({ id, priority: sql<number>`${priority}`.mapWith(Number), metaData })
    .from(agents)
    .where(
      and(
        eq(agents.queueId, sql.placeholder("queueId")),
        isNotNull(priority),
        sql`${agents.state} = 'connected'`, // a literal, as in the index
        isNull(agents.jobId),
        eq(agents.ignoreInDispatches, false),
        isNull(agents.stopRequestedAt),
        or(isNull(agents.pausedAt), lte(agents.pausedUntil, valueFor(agents.pausedUntil, "now"))),
      ),
    )
    .orderBy(desc(priority), asc(id))
    .limit(maxPreferred);
});

export interface PreferredAgent {
  id: string;
  priority: number;
  metaData: string[];
}

const maxPreferred = 20;

function isReady(tx: Tx, queueId: string, now: Date): SQL | undefined {
  const { agents } = tx.tables;
  return and(
    eq(agents.queueId, queueId),
    eq(agents.state, "connected"),
    eq(agents.ignoreInDispatches, false),
    isNull(agents.stopRequestedAt),
    or(isNull(agents.pausedAt), lte(agents.pausedUntil, now)),
  );
}

export async function updateAgentIfPresent(
  tx: Tx,
  id: string,
  change: Partial<Agent>,
): Promise<Agent | undefined> {
  const { agents } = tx.tables;
  const [updated] = await tx
    .update(agents)
    .set(change)
    .where(and(eq(agents.id, id), ne(agents.state, "disconnected")))
    .returning();
  return updated;
}

/** Drops how agents described themselves, but their names. Returns the number of agents. */
export async function dropDescriptionsDisconnectedBefore(tx: Tx, time: Date, limit: number): Promise<number> {
  const { agents } = tx.tables;
  const found = tx
    .select({ id: agents.id })
    .from(agents)
    .where(and(isNotNull(agents.disconnectedAt), sql`${agents.ip} <> ''`, lt(agents.disconnectedAt, time)))
    .orderBy(asc(agents.disconnectedAt))
    .limit(limit);
  const changed = await tx
    .update(agents)
    .set({
      hostname: "",
      os: "",
      arch: "",
      version: "",
      build: "",
      pid: null,
      metaData: [],
      ip: "",
      userAgent: null,
      pausedNote: null,
    })
    .where(inArray(agents.id, found))
    .returning({ id: agents.id });
  return changed.length;
}

export async function deleteAgentsDisconnectedBefore(tx: Tx, time: Date, limit: number): Promise<number> {
  const { agents } = tx.tables;
  const rows = await tx
    .select({ id: agents.id })
    .from(agents)
    .where(and(eq(agents.state, "disconnected"), lt(agents.seenAt, time)))
    .limit(limit);
  const ids = rows.map(({ id }) => id);
  await uncount(tx, "agents", ids);
  await tx.delete(agents).where(inArray(agents.id, ids));
  return ids.length;
}
