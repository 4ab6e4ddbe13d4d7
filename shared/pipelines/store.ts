import {
  and,
  asc,
  eq,
  getTableColumns,
  inArray,
  isNotNull,
  isNull,
  notInArray,
  or,
  type Placeholder,
  type SQL,
  sql,
} from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { Db, Reader, Tx } from "../db/database.ts";
import { countUpTo, type ListedRows, type ListPage, listCreated } from "../db/list-page.ts";
import { isOneOf, prepared, preparedRow } from "../db/prepared.ts";
import { countRows } from "../db/rows.ts";
import type { Tables } from "../db/schema.ts";
import { isStorable } from "../validation.ts";
import { unfinishedBuildStates, unfinishedJobStates } from "../vocabulary.ts";

/** The longest repository. */
const maxPartLength = 2000;

export type Pipeline = Tables["pipelines"]["$inferSelect"];

/** A pipeline without its steps, which may have a megabyte. */
export type PipelineFacts = Omit<Pipeline, "steps" | "configuration" | "document">;

/** A pipeline as lists show it. */
export type ListedPipeline = Pick<
  Pipeline,
  "id" | "slug" | "name" | "emoji" | "tags" | "repository" | "lastBuildNumber" | "createdAt" | "archivedAt"
>;

interface Place {
  organizationId: string;
  slug: string;
}

export const findPipeline = preparedRow<Place, Pipeline>((db) =>
  db.select().from(db.tables.pipelines).where(isAtPlace(db)),
);

export const findPipelineFacts = preparedRow<Place, PipelineFacts>((db) => {
  const { pipelines } = db.tables;
  return db.select(factColumns(db)).from(pipelines).where(isAtPlace(db));
});

export const findPipelineFactsById = preparedRow<{ id: string }, PipelineFacts>((db) => {
  const { pipelines } = db.tables;
  return db
    .select(factColumns(db))
    .from(pipelines)
    .where(and(eq(pipelines.id, sql.placeholder("id")), isNull(pipelines.deletedAt)));
});

/** The steps of a pipeline, which may have a megabyte. */
export const findStoredSteps = preparedRow<{ id: string }, Pick<Pipeline, "steps">, Tx>((tx) => {
  const { id, steps } = tx.tables.pipelines;
  return tx
    .select({ steps })
    .from(tx.tables.pipelines)
    .where(eq(id, sql.placeholder("id")));
});

/** The settings of a pipeline about time-outs. */
export async function findTimeouts(tx: Tx, pipeline: { pipelineId: string }): Promise<Timeouts> {
  return (
    (await timeoutsById(tx, pipeline)) ?? { defaultTimeoutInMinutes: null, maximumTimeoutInMinutes: null }
  );
}

type Timeouts = Pick<Pipeline, "defaultTimeoutInMinutes" | "maximumTimeoutInMinutes">;

const timeoutsById = preparedRow<{ pipelineId: string }, Timeouts, Tx>((tx) => {
  const { pipelines } = tx.tables;
  const { id, defaultTimeoutInMinutes, maximumTimeoutInMinutes } = pipelines;
  return tx
    .select({ defaultTimeoutInMinutes, maximumTimeoutInMinutes })
    .from(pipelines)
    .where(eq(id, sql.placeholder("pipelineId")));
});

/** The columns of `PipelineFacts`. */
export function factColumns({ tables: { pipelines } }: Reader | Tx) {
  const { steps: _, configuration: __, document: ___, ...facts } = getTableColumns(pipelines);
  return facts;
}

function isAtPlace({ tables: { pipelines } }: Db | Tx): SQL | undefined {
  return and(
    eq(pipelines.organizationId, sql.placeholder("organizationId")),
    eq(pipelines.slug, sql.placeholder("slug")),
    isNull(pipelines.deletedAt),
  );
}

/** All pipelines, oldest first. */
export async function listPipelines(db: Db, organizationId: string): Promise<Pipeline[]> {
  const { pipelines } = db.tables;
  return db
    .select()
    .from(pipelines)
    .where(isPresent(db, organizationId))
    .orderBy(asc(pipelines.createdAt), asc(pipelines.id));
}

/** Archived pipelines are listed apart. */
export interface PipelineFilter {
  organizationId: string;
  isArchived?: boolean | undefined;
  /** A part of the name, in any case. */
  name?: string | undefined;
  /** A part of the repository, in any case. */
  repository?: string | undefined;
}

/** Oldest first. Pipelines may have more than a megabyte: read them few at a time. */
export async function listPipelineIds(
  db: Db,
  { name, repository, ...filter }: PipelineFilter,
  page: ListPage,
): Promise<ListedRows<Pick<Pipeline, "id">>> {
  const parts = Object.entries({ name, repository }).flatMap(([column, part]) =>
    part ? [[column, part] as const] : [],
  );
  if (parts.some(([, part]) => !isStorable(part) || part.length > maxPartLength))
    return { rows: [], next: undefined, total: 0 };
  const patterns = parts.flatMap(([column, part]) => [
    [column, patternOf(part)],
    [`${column}Lower`, patternOf(part.toLowerCase())],
  ]);
  return pipelineIds(db, { ...filter, ...Object.fromEntries(patterns) }, page);
}

const pipelineIds = listCreated<PipelineFilter, Pick<Pipeline, "id">>((db, given) => {
  const { pipelines } = db.tables;
  const { id, createdAt } = pipelines;
  const parts = (["name", "repository"] as const).filter((name) => given.has(name));
  const where = and(
    isListed(db, given.has("isArchived")),
    ...parts.map((name) => hasPart(pipelines[name], name)),
  );
  return { table: pipelines, where, columns: { id, createdAt } };
});

/** Oldest first. */
export const listPipelineNames = listCreated<NameFilter, ListedPipeline>((db, given) => ({
  table: db.tables.pipelines,
  where: and(isListed(db, given.has("isArchived")), given.has("unstarredById") ? isUnstarred(db) : undefined),
  columns: listedColumns(db),
}));

interface NameFilter extends Pick<PipelineFilter, "organizationId" | "isArchived"> {
  /** Leaves out the pipelines that a user starred. */
  unstarredById?: string | undefined;
}

function isUnstarred(db: Reader): SQL {
  const { pipelines, stars } = db.tables;
  const starred = db
    .select({ id: stars.pipelineId })
    .from(stars)
    .where(
      and(
        eq(stars.organizationId, sql.placeholder("organizationId")),
        eq(stars.userId, sql.placeholder("unstarredById")),
      ),
    );
  return notInArray(pipelines.id, starred);
}

/** The columns of `ListedPipeline`. */
export function listedColumns({ tables: { pipelines } }: Reader | Tx) {
  const { id, slug, name, emoji, tags, repository, lastBuildNumber, createdAt, archivedAt } = pipelines;
  return { id, slug, name, emoji, tags, repository, lastBuildNumber, createdAt, archivedAt };
}

/** SQLite, and Postgres with the locale C, lower only the letters of ASCII: others must match as they are. */
function hasPart(column: SQLiteColumn, name: string): SQL | undefined {
  return or(
    sql`lower(${column}) like ${sql.placeholder(`${name}Lower`)} escape '\\'`,
    sql`${column} like ${sql.placeholder(name)} escape '\\'`,
  );
}

function patternOf(part: string): string {
  return `%${part.replace(/[\\%_]/g, "\\$&")}%`;
}

/** Counts the pipelines of an organization, archived ones too, up to a limit. */
export function countPipelines(tx: Tx, organizationId: string, limit: number): Promise<number> {
  return countUpTo(tx, tx.tables.pipelines, isPresent(tx, organizationId), limit);
}

function isPresent(db: Reader | Tx, organizationId: string | Placeholder): SQL | undefined {
  const { pipelines } = db.tables;
  return and(eq(pipelines.organizationId, organizationId), isNull(pipelines.deletedAt));
}

function isListed(db: Reader, isArchived: boolean): SQL | undefined {
  const { archivedAt } = db.tables.pipelines;
  const isPresentHere = isPresent(db, sql.placeholder("organizationId"));
  return and(isPresentHere, isArchived ? isNotNull(archivedAt) : isNull(archivedAt));
}

/** Undefined if none is archived. */
export async function findArchivedPipeline(
  db: Db,
  organizationId: string,
): Promise<Pick<Pipeline, "id"> | undefined> {
  return archivedPipeline(db, { organizationId });
}

const archivedPipeline = preparedRow<{ organizationId: string }, Pick<Pipeline, "id">, Db>((db) => {
  const { pipelines } = db.tables;
  return db.select({ id: pipelines.id }).from(pipelines).where(isListed(db, true)).limit(1);
});

export async function hasDeletedPipelines(db: Db, organizationId: string): Promise<boolean> {
  return (await deletedPipeline(db, { organizationId })) !== undefined;
}

const deletedPipeline = preparedRow<{ organizationId: string }, { id: string }, Db>((db) => {
  const { id, organizationId, deletedAt } = db.tables.pipelines;
  return db
    .select({ id })
    .from(db.tables.pipelines)
    .where(and(eq(organizationId, sql.placeholder("organizationId")), isNotNull(deletedAt)))
    .limit(1);
});

/** The condition that finds the pipelines with the given `ids`, without deleted ones. */
export function isPresentAmong({ tables: { pipelines } }: Reader | Tx): SQL | undefined {
  return and(isOneOf(pipelines.id, "ids"), isNull(pipelines.deletedAt));
}

const pipelineNamesById = prepared<{ ids: string[] }, ListedPipeline>((db) =>
  db.select(listedColumns(db)).from(db.tables.pipelines).where(isPresentAmong(db)),
);

export async function listPipelineNamesById(db: Db | Tx, ids: string[]): Promise<ListedPipeline[]> {
  return ids.length === 0 ? [] : pipelineNamesById(db, { ids });
}

/** Locks the pipelines and their clusters, so that steps and queues stay until the commit. */
export async function lockPipelines(tx: Tx, ids: string[]): Promise<Pipeline[]> {
  const found = await lockPresentPipelines(tx, { ids });
  const clusterIds = [...new Set(found.map(({ clusterId }) => clusterId))];
  if (clusterIds.length > 0) await lockClusters(tx, { ids: clusterIds });
  return found;
}

const lockPresentPipelines = prepared<{ ids: string[] }, Pipeline, Tx>((tx) =>
  tx.lock(tx.tables.pipelines, isPresentAmong(tx), "exclusive"),
);

const lockClusters = prepared<{ ids: string[] }, Tables["clusters"]["$inferSelect"], Tx>((tx) =>
  tx.lock(tx.tables.clusters, isOneOf(tx.tables.clusters.id, "ids"), "shared"),
);

export async function insertPipeline(tx: Tx, pipeline: Pipeline): Promise<void> {
  await tx.insert(tx.tables.pipelines).values(pipeline);
}

/** Locks the pipeline. Undefined if deleted. */
export async function lockPipeline(tx: Tx, id: string): Promise<Pipeline | undefined> {
  const { pipelines } = tx.tables;
  const [locked] = await tx.lock(
    pipelines,
    and(eq(pipelines.id, id), isNull(pipelines.deletedAt)),
    "exclusive",
  );
  return locked;
}

/** Undefined if the pipeline is deleted. */
export async function updatePipelineIfPresent(
  tx: Tx,
  id: string,
  change: Partial<Pipeline>,
): Promise<Pipeline | undefined> {
  const { pipelines } = tx.tables;
  const [updated] = await tx
    .update(pipelines)
    .set({ deletedAt: null, ...change }) // a change may be empty, which SQL does not allow
    .where(and(eq(pipelines.id, id), isNull(pipelines.deletedAt)))
    .returning();
  return updated;
}

/** Undefined if it is archived already, or deleted. */
export function archiveIfListed(tx: Tx, id: string): Promise<Pipeline | undefined> {
  return setArchivedAt(tx, id, { from: isNull(tx.tables.pipelines.archivedAt), to: tx.now });
}

/** Undefined if it is not archived, or deleted. */
export function unarchiveIfArchived(tx: Tx, id: string): Promise<Pipeline | undefined> {
  return setArchivedAt(tx, id, { from: isNotNull(tx.tables.pipelines.archivedAt), to: null });
}

async function setArchivedAt(tx: Tx, id: string, { from, to }: { from: SQL; to: Date | null }) {
  const { pipelines } = tx.tables;
  const [changed] = await tx
    .update(pipelines)
    .set({ archivedAt: to })
    .where(and(eq(pipelines.id, id), from, isNull(pipelines.deletedAt)))
    .returning();
  return changed;
}

/** Counts the unfinished jobs of all builds of a pipeline. */
export function countUnfinishedJobs(tx: Tx, pipelineId: string): Promise<number> {
  const { builds, jobs } = tx.tables;
  const buildIds = tx
    .select({ id: builds.id })
    .from(builds)
    .where(and(eq(builds.pipelineId, pipelineId), inArray(builds.state, unfinishedBuildStates)));
  return countRows(tx, jobs, and(inArray(jobs.buildId, buildIds), inArray(jobs.state, unfinishedJobStates)));
}

/** Raises the triggers' versions too, so that processes read them again. */
export async function deleteTriggersOfPipeline(
  tx: Tx,
  pipelineId: string,
  { now, userId }: { now: Date; userId: string },
): Promise<void> {
  const { triggers } = tx.tables;
  await tx
    .update(triggers)
    .set({ deletedAt: now, updatedAt: now, updatedById: userId, version: sql`${triggers.version} + 1` })
    .where(and(eq(triggers.pipelineId, pipelineId), isNull(triggers.deletedAt)));
}

/**
 * Reserves build numbers. The row stays locked until the transaction ends: no gaps, no duplicates.
 * @returns the first number; undefined if the pipeline is deleted
 */
export async function takeBuildNumbers(
  tx: Tx,
  pipelineId: string,
  amount: number,
): Promise<number | undefined> {
  const [updated] = await raiseLastBuildNumber(tx, { id: pipelineId, amount });
  return updated && updated.last - amount + 1;
}

const raiseLastBuildNumber = prepared<{ id: string; amount: number }, { last: number }, Tx>((tx) => {
  const { pipelines } = tx.tables;
  return tx
    .update(pipelines)
    .set({ lastBuildNumber: sql`${pipelines.lastBuildNumber} + ${sql.placeholder("amount")}` })
    .where(and(eq(pipelines.id, sql.placeholder("id")), isNull(pipelines.deletedAt)))
    .returning({ last: pipelines.lastBuildNumber });
});
