import { and, desc, eq, lt, or, type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import type { Db } from "../../db/database.ts";
import { isOneOf, isOneOfRows, isPostgres, prepared } from "../../db/prepared.ts";
import { indexedCharacters, indexedText } from "../../db/schema/builds.ts";
import { buildStates } from "../../vocabulary.ts";
import { beginning } from "../rows/build-store.ts";

/** Messages have up to 10,000 characters. */
const maxMessageCharacters = 400;

export type BranchBuild = Awaited<ReturnType<typeof selectOfDefaultBranches>>[number];

/** The last builds of the default branch of pipelines: so many of each at most, newest first. */
export const listOfDefaultBranches = prepared<{ ids: string[]; limit: number }, BranchBuild, Db>(
  selectOfDefaultBranches,
);

/** Reads as many entries of an index for each state, and then the rows of the last builds among them. */
function selectOfDefaultBranches(db: Db) {
  const { builds, pipelines } = db.tables;
  const { pipelineId, number, state, startedAt, finishedAt, workedMs, workingSince } = builds;
  // The index has all of a shorter name: to compare whole names would read the row of each entry.
  const isIndexed = lt(sql`length(${pipelines.defaultBranch})`, sql.raw(String(indexedCharacters)));
  const parts = buildStates.map((each) => {
    const build = alias(builds, `of_${each}`);
    const isOfBranch = and(
      eq(indexedText(build.branch), indexedText(pipelines.defaultBranch)),
      or(isIndexed, eq(build.branch, pipelines.defaultBranch)),
    );
    const last = db
      .select({ number: build.number })
      .from(build)
      .where(and(eq(build.pipelineId, pipelines.id), isOfBranch, eq(build.state, each)))
      .orderBy(desc(build.number))
      .limit(sql.placeholder("limit"))
      .as(`last_${each}`);
    return sql`select * from ${last}`;
  });
  const ofBranch = sql`(select number from (${sql.join(parts, sql` union all `)}) as last order by number desc limit ${sql.placeholder("limit")})`;
  // For `in`, Postgres would read all builds.
  const isAmong = isPostgres(number) ? sql`${number} = any(array${ofBranch})` : sql`${number} in ${ofBranch}`;
  return db
    .select({ pipelineId, number, state, startedAt, finishedAt, workedMs, workingSince })
    .from(pipelines)
    .innerJoin(builds, and(eq(pipelineId, pipelines.id), isAmong))
    .where(isOneOf(pipelines.id, "ids"))
    .orderBy(desc(number));
}

/** Builds as rows of one line show them. */
export async function listBuildsForRows(db: Db, ids: string[]): Promise<BuildForRow[]> {
  return ids.length === 0 ? [] : buildsForRows(db, { ids });
}

/** Like `listBuildsForRows`, by their numbers. */
export async function listNumberedForRows(
  db: Db,
  builds: { pipelineId: string; number: number }[],
): Promise<BuildForRow[]> {
  const keys = builds.map(({ pipelineId, number }) => [pipelineId, number] as const);
  return keys.length === 0 ? [] : numberedForRows(db, { keys });
}

type BuildForRow = Awaited<ReturnType<typeof selectForRows>>[number];

const buildsForRows = prepared<{ ids: string[] }, BuildForRow, Db>((db) =>
  selectForRows(db, isOneOf(db.tables.builds.id, "ids")),
);

const numberedForRows = prepared<{ keys: (readonly [string, number])[] }, BuildForRow, Db>((db) => {
  const { pipelineId, number } = db.tables.builds;
  return selectForRows(db, isOneOfRows([pipelineId, number], "keys"));
});

function selectForRows(db: Db, where: SQL) {
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
    .where(where);
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
