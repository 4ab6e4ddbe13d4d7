import {
  and,
  asc,
  eq,
  getTableColumns,
  gt,
  inArray,
  isNotNull,
  isNull,
  ne,
  notInArray,
  sql,
} from "drizzle-orm";
import { type Job, selectJobs, wholeJob } from "../builds/rows/job-store.ts";
import type { Worked } from "../builds/rows/work.ts";
import { receiverOf, receiversOf } from "../connections/receivers.ts";
import type { Connection } from "../connections/store.ts";
import type { Db, Tx } from "../db/database.ts";
import { isOneOf, prepared, preparedRow } from "../db/prepared.ts";
import { hasText } from "../db/schema/builds.ts";
import type { Tables } from "../db/schema.ts";
import { beginsWith } from "../outbox/store.ts";
import type { GivenSettings } from "../sources/settings.ts";
import { buildStates, type JobState, type MessageState } from "../vocabulary.ts";

type BuildRow = Tables["builds"]["$inferSelect"];
type PipelineRow = Tables["pipelines"]["$inferSelect"];

/** A build with what its statuses name. */
export interface StatusBuild {
  build: Pick<BuildRow, "id" | "organizationId" | "pipelineId" | "number" | "state" | "commit" | "options"> &
    Worked;
  pipeline: Pick<PipelineRow, "id" | "slug" | "repository"> & { providerSettings: GivenSettings | null };
  organization: { slug: string };
}

/** Builds of pipelines that are not deleted. */
export async function listStatusBuilds(db: Db | Tx, ids: string[]): Promise<StatusBuild[]> {
  return ids.length === 0 ? [] : ((await selectStatusBuilds(db, { ids })) as StatusBuild[]);
}

const selectStatusBuilds = prepared<{ ids: string[] }, object>((db) => {
  const { builds, pipelines, organizations } = db.tables;
  const { id, organizationId, pipelineId, number, state, commit, options } = getTableColumns(builds);
  const { startedAt, finishedAt, workedMs, workingSince } = getTableColumns(builds);
  const work = { startedAt, finishedAt, workedMs, workingSince };
  return db
    .select({
      build: { id, organizationId, pipelineId, number, state, commit, options, ...work },
      pipeline: {
        id: pipelines.id,
        slug: pipelines.slug,
        repository: pipelines.repository,
        providerSettings: pipelines.providerSettings,
      },
      organization: { slug: organizations.slug },
    })
    .from(builds)
    .innerJoin(pipelines, and(eq(pipelines.id, builds.pipelineId), isNull(pipelines.deletedAt)))
    .innerJoin(organizations, eq(organizations.id, builds.organizationId))
    .where(isOneOf(id, "ids"));
});

/** More of them say nothing new. */
const maxNewer = 20;

/** The states of messages that a receiver got, or will get. */
const sentOrWaiting: MessageState[] = ["sent", "waiting"];

/**
 * Finds a status of a newer build of the pipeline at the same commit, in a context, which a receiver was told or will be.
 * It is found as long as its message is kept.
 */
export async function findNewerStatus(
  db: Db,
  { pipelineId, commit, number }: StatusBuild["build"],
  { receiver, context }: { receiver: string; context: string },
): Promise<{ id: string } | undefined> {
  const { builds, outbox } = db.tables;
  // In an order, SQLite would read all newer builds of the pipeline.
  const newer = db
    .select({ id: builds.id })
    .from(builds)
    .where(
      and(
        eq(builds.pipelineId, pipelineId),
        hasText(builds.commit, commit),
        // All of them: so the index has only newer builds to show.
        inArray(builds.state, [...buildStates]),
        gt(builds.number, number),
      ),
    )
    .limit(maxNewer);
  const [found] = await db
    .select({ id: outbox.id })
    .from(outbox)
    .where(
      and(
        inArray(outbox.buildId, newer),
        eq(outbox.kind, "status"),
        eq(outbox.receiver, receiver),
        inArray(outbox.state, sentOrWaiting),
        sql`${outbox.target} ->> 'context' = ${context}`,
      ),
    )
    .limit(1);
  return found;
}

const unannounced: JobState[] = ["waiting", "blocked", "broken", "skipped"];

/** The first jobs of a build that need or needed an agent, or make builds. */
export async function listAnnouncedJobs(tx: Db | Tx, buildId: string, limit: number): Promise<Job[]> {
  const { jobs } = tx.tables;
  const found = await selectJobs(tx)
    .where(
      and(
        eq(jobs.buildId, buildId),
        inArray(jobs.type, ["script", "trigger"]),
        notInArray(jobs.state, unannounced),
        isNull(jobs.retriedInJobId),
      ),
    )
    .orderBy(asc(jobs.position), asc(jobs.id))
    .limit(limit);
  return found.map(wholeJob);
}

/** The host refuses the connection since now, unless it does so already. */
export async function failConnection(tx: Tx, id: string, restsUntil: Date | null): Promise<void> {
  const { repositoryConnections: connections } = tx.tables;
  await tx
    .update(connections)
    .set({
      failingSince: sql`coalesce(${connections.failingSince}, ${sql.param(tx.now, connections.failingSince)})`,
      ...(restsUntil && { restsUntil }),
    })
    .where(eq(connections.id, id));
}

export async function restConnection(tx: Tx, id: string, restsUntil: Date): Promise<void> {
  const { repositoryConnections: connections } = tx.tables;
  await tx.update(connections).set({ restsUntil }).where(eq(connections.id, id));
}

/** A receiver of a connection has taken a status: the connection is sound again, unless the host still refuses another one. */
export async function mendConnectionIfFailing(
  tx: Tx,
  connection: Pick<Connection, "id" | "organizationId">,
  receiver: string,
): Promise<void> {
  const { repositoryConnections: connections, outboxReceivers } = tx.tables;
  if (!(await findIfFailing(tx, { id: connection.id }))) return;
  const others = await tx
    .select({ receiver: outboxReceivers.receiver })
    .from(outboxReceivers)
    .where(and(isFailingReceiver(tx, connection), ne(outboxReceivers.receiver, receiver)))
    .limit(1);
  if (others.length > 0) return;
  await tx.update(connections).set({ failingSince: null }).where(eq(connections.id, connection.id));
}

const findIfFailing = preparedRow<{ id: string }, Pick<Connection, "id">, Tx>((tx) => {
  const { id, failingSince } = tx.tables.repositoryConnections;
  return tx
    .select({ id })
    .from(tx.tables.repositoryConnections)
    .where(and(eq(id, sql.placeholder("id")), isNotNull(failingSince)));
});

/** Statuses of a pipeline that a host does not take. */
export interface StatusFailure {
  failingSince: Date;
  problem: string;
  /** The next try. */
  dueAt: Date;
}

/** Finds why a host does not take the statuses of a pipeline at present. */
export async function findFailure(
  db: Db,
  connection: Pick<Connection, "id" | "organizationId">,
  pipelineId: string,
): Promise<StatusFailure | undefined> {
  const { outboxReceivers } = db.tables;
  const { receiver, failingSince, problem, dueAt } = outboxReceivers;
  const [found] = await db
    .select({ failingSince, problem, dueAt })
    .from(outboxReceivers)
    .where(and(isFailingReceiver(db, connection), eq(receiver, receiverOf(connection.id, pipelineId))));
  return found && failureOf(found);
}

/** The first pipelines whose statuses a connection's host does not take. */
export async function listFailures(
  db: Db,
  connection: Pick<Connection, "id" | "organizationId">,
  limit: number,
): Promise<(StatusFailure & { pipeline: Pick<PipelineRow, "slug" | "name"> })[]> {
  const { outboxReceivers, pipelines } = db.tables;
  const { receiver, failingSince, problem, dueAt } = outboxReceivers;
  const failing = await db
    .select({ receiver, failingSince, problem, dueAt })
    .from(outboxReceivers)
    .where(isFailingReceiver(db, connection))
    .orderBy(asc(receiver))
    .limit(limit);
  if (failing.length === 0) return [];
  const byId = new Map(failing.map((row) => [row.receiver.slice(receiversOf(connection.id).length), row]));
  const { id, slug, name } = pipelines;
  const rows = await db
    .select({ id, slug, name })
    .from(pipelines)
    .where(and(inArray(id, [...byId.keys()]), isNull(pipelines.deletedAt)));
  return rows.flatMap(({ id: pipelineId, ...pipeline }) => {
    const row = byId.get(pipelineId);
    return row ? [{ ...failureOf(row), pipeline }] : [];
  });
}

function failureOf({
  failingSince,
  problem,
  dueAt,
}: Pick<Tables["outboxReceivers"]["$inferSelect"], "failingSince" | "problem" | "dueAt">): StatusFailure {
  return { failingSince: failingSince as Date, problem: problem ?? "", dueAt };
}

function isFailingReceiver(
  { tables: { outboxReceivers } }: Db | Tx,
  { id, organizationId }: Pick<Connection, "id" | "organizationId">,
) {
  return and(
    eq(outboxReceivers.organizationId, organizationId),
    beginsWith(outboxReceivers.receiver, receiversOf(id)),
    isNotNull(outboxReceivers.failingSince),
  );
}
