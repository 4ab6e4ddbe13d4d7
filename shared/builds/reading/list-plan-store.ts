import {
  aliasedTable,
  and,
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
import { isOneOf, valueFor } from "../../db/prepared.ts";
import { beginningOf, hasText, isWhollyIndexed } from "../../db/schema/builds.ts";
import type { Tables } from "../../db/schema.ts";
import { lowestIdAt } from "../../ids.ts";
import { rememberRecent } from "../../sharing/recent.ts";
import { type BuildState, buildStates } from "../../vocabulary.ts";

export interface BuildFilter {
  organizationId: string;
  pipelineId?: string | undefined;
  states?: BuildState[] | undefined;
  branches?: string[] | undefined;
  commits?: string[] | undefined;
  /** A part of the message, in upper or lower case. */
  message?: string | undefined;
  pullRequestNumber?: number | undefined;
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

/** The conditions of all filters of one form. They have names where the filters have values. */
export interface ListForm {
  /** An index has the builds of each condition in the order of the list. */
  streams: SQL[];
  /** Conditions that must look at each build of the streams, with the names of their filters. */
  rest: { name: string; condition: SQL }[];
  /** Numbers in a pipeline, ids in an organization: both rise with time. */
  order: SQLiteColumn;
}

/** The plan of a filtered list, newest first. */
export interface BuildListPlan extends ListForm {
  form: ListForm;
  values: Record<string, unknown>;
}

/** Streams that one statement merges at most. */
const maxStreams = 40;

/** The statements of a form are built once: to build them takes as long as to run them many times. */
const maxForms = 200;
const forms = new WeakMap<Tables, ReturnType<typeof rememberRecent<ListForm>>>();

/** Plans a list by its filter. @param hasDeletedPipelines whose builds wait for the purge */
export function planBuildList(db: Reader, given: BuildFilter, hasDeletedPipelines: boolean): BuildListPlan {
  const distinct = <Value>(values: Value[] | undefined) => values && [...new Set(values)];
  const { states, branches, commits } = given;
  const filter = {
    ...given,
    states: distinct(states),
    branches: distinct(branches),
    commits: distinct(commits),
  };
  const known = forms.get(db.tables) ?? rememberRecent<ListForm>(maxForms);
  forms.set(db.tables, known);
  const isState = (value: string) => buildStates.includes(value as BuildState);
  const key = JSON.stringify([hasDeletedPipelines, filter], (_, value) =>
    typeof value === "string" && value !== "" && !isState(value) ? isWhollyIndexed(value) : value,
  );
  const form = known.get(key) ?? planForm(db, filter, hasDeletedPipelines);
  known.set(key, form);
  return { ...form, form, values: valuesOf(filter) };
}

function valuesOf(filter: BuildFilter): Record<string, unknown> {
  const { message = "", metaData = [], createdFrom, createdTo } = filter;
  const idAt = (ms: number) => lowestIdAt(new Date(Math.max(0, ms)));
  const numbered = (name: string, list: string[]) =>
    Object.fromEntries(list.map((each, index) => [name + index, each]));
  const texts = textsOf(filter);
  const [keys, values] = [metaData.map(([key]) => key), metaData.map(([, value]) => value)];
  return {
    ...filter,
    pattern: `%${message.replace(/[\\%_]/g, "\\$&")}%`,
    idFrom: createdFrom && idAt(createdFrom.getTime()),
    idTo: createdTo && idAt(createdTo.getTime() + 1),
    ...numbered("text", texts),
    ...numbered("beginning", texts.map(beginningOf)),
    ...numbered("key", keys),
    ...numbered("value", values),
  };
}

export const named = (name: string, index: number | "" = "") => sql.placeholder(name + index);

function planForm(db: Reader, filter: BuildFilter, hasDeletedPipelines: boolean): ListForm {
  const { builds } = db.tables;
  const { states, branches, commits, pipelineId, pullRequestNumber, creatorId } = filter;
  const { metaData, createdFrom, createdTo } = filter;
  const { conditions, indexed } = findIndex(db, filter);
  const slice = aliasedTable(builds, "slice");
  const rest: Record<string, SQL | false | undefined> = {
    state: !indexed.has("state") && states && inArray(slice.state, states),
    branch: !indexed.has("branch") && branches && isOneOf(slice.branch, "branches"),
    commit: !indexed.has("commit") && commits && isOneOf(slice.commit, "commits"),
    message: filter.message ? hasPattern(slice.message) : undefined,
    pull_request:
      !indexed.has("pull_request") && pullRequestNumber
        ? eq(slice.pullRequestNumber, named("pullRequestNumber"))
        : undefined,
    creator: !indexed.has("creator") && creatorId ? eq(slice.creatorId, named("creatorId")) : undefined,
    finished_from: filter.finishedFrom && gte(slice.finishedAt, valueFor(slice.finishedAt, "finishedFrom")),
    meta_data: metaData && and(...metaData.map((_, index) => hasMetaData(db, slice.id, index))),
    include_paused: !filter.includePaused && eq(slice.isPaused, false),
    created_from:
      pipelineId && createdFrom ? gte(slice.createdAt, valueFor(slice.createdAt, "createdFrom")) : undefined,
    created_to:
      pipelineId && createdTo ? lte(slice.createdAt, valueFor(slice.createdAt, "createdTo")) : undefined,
    organization: !pipelineId && hasDeletedPipelines && hasPresentPipeline(db, slice.pipelineId),
  };
  const scope = pipelineId
    ? eq(builds.pipelineId, named("pipelineId"))
    : and(
        eq(builds.organizationId, named("organizationId")),
        createdFrom && gte(builds.id, named("idFrom")), // ids carry the time of creation
        createdTo && lt(builds.id, named("idTo")),
      );
  return {
    streams: conditions.map((condition) => and(scope, condition) as SQL),
    rest: Object.entries(rest).flatMap(([name, condition]) => (condition ? [{ name, condition }] : [])),
    order: pipelineId ? builds.number : builds.id,
  };
}

/** The texts that an index may have. */
function textsOf({ commits, branches }: BuildFilter): string[] {
  return commits ?? branches ?? [];
}

/** A condition for each combination of a state with a branch or commit, as an index has it. */
function findIndex(db: Reader, filter: BuildFilter) {
  const { builds } = db.tables;
  if (filter.pipelineId && filter.pullRequestNumber) {
    const conditions = [eq(builds.pullRequestNumber, named("pullRequestNumber"))];
    return { conditions, indexed: new Set(["pull_request"]) };
  }
  const states = (filter.states ?? buildStates).map((state) => eq(builds.state, state));
  const [name, column] = filter.commits
    ? (["commit", builds.commit] as const)
    : (["branch", builds.branch] as const);
  const texts = textsOf(filter).map((text, index) =>
    hasText(column, text, { text: named("text", index), beginning: named("beginning", index) }),
  );

  if (texts.length > 0 && texts.length * states.length <= maxStreams) {
    const conditions = texts.flatMap((text) => states.map((state) => and(text, state)));
    return { conditions, indexed: new Set(["state", name]) };
  }
  if (filter.creatorId)
    return { conditions: [eq(builds.creatorId, named("creatorId"))], indexed: new Set(["creator"]) };
  if (filter.states) return { conditions: states, indexed: new Set(["state"]) };
  return { conditions: [undefined], indexed: new Set<string>() };
}

/** Lower case is that of the database: SQLite knows ASCII only. */
function hasPattern(column: SQLiteColumn): SQL {
  return sql`lower(${column}) like lower(${named("pattern")}) escape '\\'`;
}

/** Reads the entry of each build by its key. For `exists`, Postgres would read the meta-data of all organizations. */
function hasMetaData(db: Reader, buildId: SQLiteColumn, index: number): SQL {
  const { metaData } = db.tables;
  const stored = db
    .select({ value: metaData.value })
    .from(metaData)
    .where(and(eq(metaData.buildId, buildId), eq(metaData.key, named("key", index))));
  return sql`(${stored}) = ${named("value", index)}`;
}

/** Builds of deleted pipelines wait for the purge. */
function hasPresentPipeline(db: Reader, pipelineId: SQLiteColumn): SQL {
  const { pipelines } = db.tables;
  const deleted = db
    .select({ id: pipelines.id })
    .from(pipelines)
    .where(and(eq(pipelines.organizationId, named("organizationId")), isNotNull(pipelines.deletedAt)));
  return notInArray(pipelineId, deleted);
}
