import {
  aliasedTable,
  and,
  count,
  desc,
  eq,
  gte,
  inArray,
  isNotNull,
  lt,
  lte,
  notInArray,
  type SQL,
  sql,
} from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { Reader } from "../../db/database.ts";
import type { ListPosition } from "../../db/list-page.ts";
import { hasText } from "../../db/schema/builds.ts";
import { lowestIdAt } from "../../ids.ts";
import { type BuildState, buildStates } from "../../vocabulary.ts";
import type { ListedBuild } from "../store.ts";

export interface BuildFilter {
  organizationId: string;
  pipelineId?: string | undefined;
  states?: BuildState[] | undefined;
  branches?: string[] | undefined;
  commits?: string[] | undefined;
  /** A part of the message, in upper or lower case. */
  message?: string | undefined;
  /** Builds of webhooks have no creator. */
  creatorId?: string | undefined;
  /** A build must have all of these. */
  metaData?: [key: string, value: string][] | undefined;
  finishedFrom?: Date | undefined;
  createdFrom?: Date | undefined;
  createdTo?: Date | undefined;
  /** False leaves out builds that wait for paused queues only. */
  includePaused: boolean;
}

/** The plan of a filtered list, newest first. */
export interface BuildListPlan {
  /** An index has the builds of each condition in the order of the list. */
  streams: SQL[];
  /** Conditions that must look at each build of the streams, with the names of their filters. */
  rest: { name: string; condition: SQL }[];
  /** Numbers in a pipeline, ids in an organization: both rise with time. */
  order: SQLiteColumn;
}

type Key = string | number;

/** At most `size` builds of the streams, before `rest` leaves some out. */
export interface Slice {
  /** The number or id of the build before the first. */
  after: Key | undefined;
  size: number;
}

/** Streams that one statement merges at most. */
const maxStreams = 40;
const maxInteger = 2 ** 31 - 1;

/** @param hasDeletedPipelines whose builds wait for the purge */
export function planBuildList(db: Reader, filter: BuildFilter, hasDeletedPipelines: boolean): BuildListPlan {
  const { builds } = db.tables;
  const { states, branches, commits, organizationId, pipelineId, createdFrom, createdTo } = filter;
  const { conditions, indexed } = findIndex(db, filter);
  const slice = aliasedTable(builds, "slice");
  const rest: Record<string, SQL | false | undefined> = {
    state: !indexed.has("state") && states && inArray(slice.state, states),
    branch: !indexed.has("branch") && branches && inArray(slice.branch, branches),
    commit: !indexed.has("commit") && commits && inArray(slice.commit, commits),
    message: filter.message ? hasPart(slice.message, filter.message) : undefined,
    creator: !indexed.has("creator") && filter.creatorId ? eq(slice.creatorId, filter.creatorId) : undefined,
    finished_from: filter.finishedFrom ? gte(slice.finishedAt, filter.finishedFrom) : undefined,
    meta_data: filter.metaData && and(...filter.metaData.map((entry) => hasMetaData(db, slice.id, entry))),
    include_paused: !filter.includePaused && eq(slice.isPaused, false),
    created_from: pipelineId && createdFrom ? gte(slice.createdAt, createdFrom) : undefined,
    created_to: pipelineId && createdTo ? lte(slice.createdAt, createdTo) : undefined,
    organization:
      !pipelineId && hasDeletedPipelines && hasPresentPipeline(db, slice.pipelineId, organizationId),
  };
  const scope = pipelineId
    ? eq(builds.pipelineId, pipelineId)
    : and(eq(builds.organizationId, organizationId), wasCreated(builds.id, createdFrom, createdTo));
  return {
    streams: conditions.map((condition) => and(scope, condition) as SQL),
    rest: Object.entries(rest).flatMap(([name, condition]) => (condition ? [{ name, condition }] : [])),
    order: pipelineId ? builds.number : builds.id,
  };
}

/** A condition for each combination of a state with a branch or commit, as an index has it. */
function findIndex(db: Reader, { states: wanted, branches, commits, creatorId }: BuildFilter) {
  const { builds } = db.tables;
  const states = [...new Set(wanted ?? buildStates)].map((state) => eq(builds.state, state));
  const [name, column] = commits
    ? (["commit", builds.commit] as const)
    : (["branch", builds.branch] as const);
  const texts = [...new Set(commits ?? branches)].map((text) => hasText(column, text));

  if (texts.length > 0 && texts.length * states.length <= maxStreams) {
    const conditions = texts.flatMap((text) => states.map((state) => and(text, state)));
    return { conditions, indexed: new Set(["state", name]) };
  }
  if (creatorId) return { conditions: [eq(builds.creatorId, creatorId)], indexed: new Set(["creator"]) };
  if (wanted) return { conditions: states, indexed: new Set(["state"]) };
  return { conditions: [undefined], indexed: new Set<string>() };
}

/** Ids carry the time of creation. */
function wasCreated(id: SQLiteColumn, from: Date | undefined, to: Date | undefined): SQL | undefined {
  const idAt = (ms: number) => lowestIdAt(new Date(Math.max(0, ms)));
  return and(from && gte(id, idAt(from.getTime())), to && lt(id, idAt(to.getTime() + 1)));
}

/** Lower case is that of the database: SQLite knows ASCII only. */
function hasPart(column: SQLiteColumn, part: string): SQL {
  const pattern = `%${part.replace(/[\\%_]/g, "\\$&")}%`;
  return sql`lower(${column}) like lower(${pattern}) escape '\\'`;
}

/** Reads the entry of each build by its key. For `exists`, Postgres would read the meta-data of all organizations. */
function hasMetaData(db: Reader, buildId: SQLiteColumn, [key, value]: [key: string, value: string]): SQL {
  const { metaData } = db.tables;
  const stored = db
    .select({ value: metaData.value })
    .from(metaData)
    .where(and(eq(metaData.buildId, buildId), eq(metaData.key, key)));
  return sql`(${stored}) = ${value}`;
}

/** Builds of deleted pipelines wait for the purge. */
function hasPresentPipeline(db: Reader, pipelineId: SQLiteColumn, organizationId: string): SQL {
  const { pipelines } = db.tables;
  const deleted = db
    .select({ id: pipelines.id })
    .from(pipelines)
    .where(and(eq(pipelines.organizationId, organizationId), isNotNull(pipelines.deletedAt)));
  return notInArray(pipelineId, deleted);
}

export function keyOfPosition(db: Reader, { order }: BuildListPlan, { number, id }: ListPosition): Key {
  return order === db.tables.builds.id ? id : Math.min(number, maxInteger);
}

/** The columns of a build that a list reads. */
export interface BuildColumns<Row extends ListedBuild> {
  columnsOf: (db: Reader) => Record<keyof Row & string, SQLiteColumn | SQL>;
}

/** The builds of a slice that pass the rest of the filter. */
export async function listSlice<Row extends ListedBuild>(
  db: Reader,
  plan: BuildListPlan,
  slice: Slice,
  { limit, offset, columnsOf }: BuildColumns<Row> & { limit: number; offset: number },
): Promise<Row[]> {
  const { builds } = db.tables;
  const ids = sql`select id from ${passing(db, plan, slice)} order by place desc limit ${limit} offset ${offset}`;
  const rows = await db
    .select(columnsOf(db))
    .from(builds)
    .where(sql`${builds.id} in (${ids})`)
    .orderBy(desc(plan.order));
  return rows as unknown as Row[];
}

/** Counts the builds of a slice that pass the rest of the filter. */
export async function countSlice(db: Reader, plan: BuildListPlan, slice: Slice): Promise<number> {
  const [row] = await db.select({ total: count() }).from(passing(db, plan, slice));
  return row?.total ?? 0;
}

/** The key of the last build of a slice. Undefined if the list ends before the slice is full. */
export async function findEndOfSlice(
  db: Reader,
  plan: BuildListPlan,
  slice: Slice,
): Promise<Key | undefined> {
  const [last] = await db
    .select({ key: sql<Key>`place` })
    .from(sql`(${entriesOf(db, plan, slice)}) as slice`)
    .orderBy(sql`place desc`)
    .limit(1)
    .offset(slice.size - 1);
  return last?.key;
}

/** The rest of the filter looks at the slice alone: joined with the table, Postgres may read all of it. */
function passing(db: Reader, plan: BuildListPlan, slice: Slice): SQL {
  const entries = sql`(${entriesOf(db, plan, slice)}) as slice`;
  if (plan.rest.length === 0) return entries;
  return sql`${entries} where ${and(...plan.rest.map(({ condition }) => condition))}`;
}

/** Merges the streams: one statement for each, with its own limit, or the databases would sort them all. */
function entriesOf(db: Reader, { streams, rest, order }: BuildListPlan, { after, size }: Slice): SQL {
  const { builds } = db.tables;
  const { pipelineId, state, branch, commit, message, isPaused, createdAt, creatorId, finishedAt } = builds;
  const filtered = { pipelineId, state, branch, commit, message, isPaused, createdAt, creatorId, finishedAt };
  const parts = streams.map((stream, index) => {
    const part = db
      .select({ id: builds.id, place: sql`${order}`.as("place"), ...(rest.length > 0 && filtered) })
      .from(builds)
      .where(and(stream, after === undefined ? undefined : lt(order, after)))
      .orderBy(desc(order))
      .limit(size)
      .as(`stream_${index}`);
    return sql`select * from ${part}`;
  });
  if (parts.length === 1) return parts[0] as SQL;
  return sql`${sql.join(parts, sql` union all `)} order by place desc limit ${size}`;
}
