import { and, count, eq, inArray, type SQL, sql } from "drizzle-orm";
import { briefText } from "../builds/reading/job-list-store.ts";
import { listedColumns } from "../builds/rows/build-store.ts";
import { factColumns, firstOfStep, type Job, type StoredJob, wholeJob } from "../builds/rows/job-store.ts";
import { type CursorPage, selectPage } from "../db/cursor-page.ts";
import type { Db } from "../db/database.ts";
import { listCreated } from "../db/list-page.ts";
import { isOneOf, listBy, prepared, preparedRow } from "../db/prepared.ts";
import type { AgentState, JobState } from "../vocabulary.ts";
import type { Agent } from "./store.ts";

export interface AgentFilter {
  organizationId: string;
  clusterId?: string | undefined;
  queueId?: string | undefined;
  /** Exact. */
  name?: string | undefined;
  hostname?: string | undefined;
  version?: string | undefined;
}

/** Lists have no agent that has not connected yet, or has disconnected. */
const listed: AgentState[] = ["connected", "lost"];

/** Connected and lost agents, oldest first. */
export const listAgentsPage = listCreated<AgentFilter, Agent>(({ tables: { agents } }, given) => {
  const filters = (["organizationId", "clusterId", "queueId", "name", "hostname", "version"] as const)
    .filter((name) => given.has(name))
    .map((name) => eq(agents[name], sql.placeholder(name)));
  return { table: agents, where: and(...filters, inArray(agents.state, listed)) };
});

/** In any state. An agent that disconnected long ago is deleted. */
export async function listAgentsById(db: Db, ids: readonly (string | null)[]): Promise<Map<string, Agent>> {
  const wanted = [...new Set(ids)].filter((id) => id !== null);
  const found = await agentsById(db, wanted);
  return new Map(found.map((agent) => [agent.id, agent]));
}

const agentsById = listBy<Agent, Db>(({ agents }) => agents.id);

/** In any state. */
export async function listAgentNames(
  db: Db,
  ids: readonly (string | null)[],
): Promise<Map<string, Pick<Agent, "id" | "name">>> {
  const { agents } = db.tables;
  const wanted = [...new Set(ids)].filter((id) => id !== null);
  if (wanted.length === 0) return new Map();
  const { id, name } = agents;
  const found = await db.select({ id, name }).from(agents).where(inArray(id, wanted));
  return new Map(found.map((agent) => [agent.id, agent]));
}

/** Counts connected agents by queue. Looks at `limit` of them. */
export async function countConnectedAgents(db: Db, limit: number): Promise<Map<string, number>> {
  const { agents } = db.tables;
  const connected = db.offLoop
    .select({ queueId: agents.queueId })
    .from(agents)
    .where(eq(agents.state, "connected"))
    .limit(limit)
    .as("connected");
  const rows = await db.offLoop
    .select({ queueId: connected.queueId, total: count() })
    .from(connected)
    .groupBy(connected.queueId);
  return new Map(rows.map(({ queueId, total }) => [queueId, total]));
}

/** Counts the connected agents of an organization, and the busy agents among them. Looks at `limit` agents. */
export async function countAgents(db: Db, organizationId: string, limit: number) {
  return (await agentCounts(db, { organizationId, limit })) ?? { connected: 0, busy: 0 };
}

const agentCounts = preparedRow<
  { organizationId: string; limit: number },
  { connected: number; busy: number },
  Db
>(({ offLoop, tables: { agents } }) => {
  const isConnected = eq(agents.state, "connected");
  const connected = offLoop
    .select({ jobId: agents.jobId })
    .from(agents)
    .where(and(eq(agents.organizationId, sql.placeholder("organizationId")), isConnected))
    .limit(sql.placeholder("limit"))
    .as("connected");
  return offLoop.select({ connected: count(), busy: count(connected.jobId) }).from(connected);
});

/** Lists have jobs with the beginning of their command, and few of their options. */
export interface JobWithOwners {
  job: Job;
  build: { number: number; message: string };
  pipeline: { id: string; slug: string; name: string };
}

/** Jobs of a queue in these states, in the order of arrival: up to `limit` and one more. */
export async function listJobsOfQueue(
  db: Db,
  queueId: string,
  states: JobState[],
  page: Omit<CursorPage, "isOldestFirst">,
): Promise<JobWithOwners[]> {
  const { jobs } = db.tables;
  const isOfQueue = and(eq(jobs.queueId, queueId), inArray(jobs.state, states));
  const found = await selectPage(jobs.id, { ...page, isOldestFirst: true }, ({ condition, order, limit }) =>
    selectPlaced(db, and(isOfQueue, condition)).orderBy(order).limit(limit),
  );
  return found.map(withWholeJob);
}

export async function listJobsWithOwners(
  db: Db,
  ids: readonly (string | null)[],
): Promise<Map<string, JobWithOwners>> {
  const wanted = [...new Set(ids)].filter((id) => id !== null);
  if (wanted.length === 0) return new Map();
  const found = await selectWithOwners(db, inArray(db.tables.jobs.id, wanted));
  return new Map(found.map((row) => [row.job.id, withWholeJob(row)]));
}

/** Jobs as lists show them. */
export async function listPlacedJobs(
  db: Db,
  ids: readonly (string | null)[],
): Promise<Map<string, JobWithOwners>> {
  const wanted = [...new Set(ids)].filter((id) => id !== null);
  if (wanted.length === 0) return new Map();
  const found = await placedJobs(db, { ids: wanted });
  return new Map(found.map((row) => [row.job.id, withWholeJob(row)]));
}

const placedJobs = prepared<{ ids: string[] }, PlacedJob, Db>((db) =>
  selectPlaced(db, isOneOf(db.tables.jobs.id, "ids")),
);

type PlacedJob = Awaited<ReturnType<typeof selectPlaced>>[number];

function withWholeJob<Row extends StoredJob>({ job, first, ...owners }: Row) {
  return { ...owners, job: wholeJob({ job, first }) };
}

function selectPlaced(db: Db, where: SQL | undefined) {
  const { jobs, builds, pipelines } = db.tables;
  const first = firstOfStep(db);
  return db
    .select({
      job: { ...factColumns(db), ...briefText(jobs) },
      first: { id: first.columns.id, ...briefText(first.table) },
      build: { number: builds.number, message: listedColumns(db).message },
      pipeline: { id: pipelines.id, slug: pipelines.slug, name: pipelines.name },
    })
    .from(jobs)
    .leftJoin(first.table, first.isReferredTo)
    .innerJoin(builds, eq(builds.id, jobs.buildId))
    .innerJoin(pipelines, eq(pipelines.id, builds.pipelineId))
    .where(where)
    .$dynamic();
}

function selectWithOwners(db: Db, where: SQL | undefined) {
  const { jobs, builds, pipelines } = db.tables;
  const first = firstOfStep(db);
  return db
    .select({
      job: jobs,
      first: first.columns,
      build: { number: builds.number, message: builds.message },
      pipeline: { id: pipelines.id, slug: pipelines.slug, name: pipelines.name },
    })
    .from(jobs)
    .leftJoin(first.table, first.isReferredTo)
    .innerJoin(builds, eq(builds.id, jobs.buildId))
    .innerJoin(pipelines, eq(pipelines.id, builds.pipelineId))
    .where(where)
    .$dynamic();
}
