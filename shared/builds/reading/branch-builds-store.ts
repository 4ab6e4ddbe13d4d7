import { and, desc, eq, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import type { Db } from "../../db/database.ts";
import { isOneOf, isPostgres, prepared } from "../../db/prepared.ts";
import { indexedText } from "../../db/schema/builds.ts";
import { buildStates } from "../../vocabulary.ts";
import { beginning } from "../rows/build-store.ts";

/** Messages have up to 10,000 characters. */
const maxMessageCharacters = 400;

export type BranchBuild = Awaited<ReturnType<typeof selectOfDefaultBranches>>[number];

/** The last builds of the default branch of pipelines: so many of each at most, newest first. */
export const listOfDefaultBranches = prepared<{ ids: string[]; limit: number }, BranchBuild, Db>(
  selectOfDefaultBranches,
);

/** Reads as many entries of an index for each state. */
function selectOfDefaultBranches(db: Db) {
  const { builds, pipelines } = db.tables;
  const { id, pipelineId, number, state, startedAt, finishedAt, workedMs, workingSince } = builds;
  const parts = buildStates.map((each) => {
    const build = alias(builds, `of_${each}`);
    const isOfBranch = and(
      eq(indexedText(build.branch), indexedText(pipelines.defaultBranch)),
      eq(build.branch, pipelines.defaultBranch),
    );
    const last = db
      .select({ id: build.id, number: build.number })
      .from(build)
      .where(and(eq(build.pipelineId, pipelines.id), isOfBranch, eq(build.state, each)))
      .orderBy(desc(build.number))
      .limit(sql.placeholder("limit"))
      .as(`last_${each}`);
    return sql`select * from ${last}`;
  });
  const ofBranch = sql`(select id from (${sql.join(parts, sql` union all `)}) as last order by number desc limit ${sql.placeholder("limit")})`;
  // For `in`, Postgres would read all builds.
  const isAmong = isPostgres(id) ? sql`${id} = any(array${ofBranch})` : sql`${id} in ${ofBranch}`;
  return db
    .select({ id, pipelineId, number, state, startedAt, finishedAt, workedMs, workingSince })
    .from(pipelines)
    .innerJoin(builds, isAmong)
    .where(isOneOf(pipelines.id, "ids"))
    .orderBy(desc(number));
}

/** Builds as rows of one line show them. */
export async function listBuildsForRows(db: Db, ids: string[]): Promise<BuildForRow[]> {
  return ids.length === 0 ? [] : buildsForRows(db, { ids });
}

type BuildForRow = Awaited<ReturnType<typeof selectForRows>>[number];

const buildsForRows = prepared<{ ids: string[] }, BuildForRow, Db>(selectForRows);

function selectForRows(db: Db) {
  const { builds } = db.tables;
  const { id, pipelineId, number, state, message, creatorId, author, createdAt } = builds;
  return db
    .select({
      id,
      pipelineId,
      number,
      state,
      message: beginning<string>(message, maxMessageCharacters),
      creatorId,
      author,
      createdAt,
    })
    .from(builds)
    .where(isOneOf(id, "ids"));
}

export type RecentBuild = Awaited<ReturnType<typeof selectRecent>>[number];

/** The last builds of an organization, newest first, with who made them. */
export const listRecentBuilds = prepared<{ organizationId: string; limit: number }, RecentBuild, Db>(
  selectRecent,
);

function selectRecent(db: Db) {
  const { builds } = db.tables;
  const { id, pipelineId, author, options } = builds;
  return db
    .select({ id, pipelineId, author, options })
    .from(builds)
    .where(eq(builds.organizationId, sql.placeholder("organizationId")))
    .orderBy(desc(id))
    .limit(sql.placeholder("limit"));
}
