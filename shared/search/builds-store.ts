import { and, desc, eq, gt, inArray, isNotNull, isNull, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { type ListedBuild, listedColumns } from "../builds/rows/build-store.ts";
import type { Reader } from "../db/database.ts";
import { type BuildTexts, textColumns } from "../words/store.ts";

export interface BuildSearch {
  organizationId: string;
  /** Of all pipelines, if undefined. */
  slug: string | undefined;
  number: number;
  limit: number;
}

/** The builds of this number, newest first. */
export function listBuildsNumbered(db: Reader, search: BuildSearch): PromiseLike<ListedBuild[]> {
  return listOfEachPipeline(db, search, db.tables.builds.number);
}

/** The last build of this pull request in each pipeline, newest first. */
export function listBuildsOfRequest(db: Reader, search: BuildSearch): PromiseLike<ListedBuild[]> {
  return listOfEachPipeline(db, search, db.tables.builds.pullRequestNumber);
}

/** A join would let Postgres read all builds, and sort those of a request that has many. */
function listOfEachPipeline(
  db: Reader,
  { organizationId, slug, number, limit }: BuildSearch,
  column: SQLiteColumn,
): PromiseLike<ListedBuild[]> {
  const { builds, pipelines } = db.tables;
  const last = db
    .select({ id: builds.id })
    .from(builds)
    .where(and(eq(builds.pipelineId, pipelines.id), eq(column, number)))
    .orderBy(desc(builds.number))
    .limit(1);
  const found = db
    .select({ id: sql<string | null>`(${last})`.as("found_id") })
    .from(pipelines)
    .where(
      and(
        eq(pipelines.organizationId, organizationId),
        isNull(pipelines.deletedAt),
        slug === undefined ? undefined : eq(pipelines.slug, slug),
      ),
    )
    .as("found");
  const ids = db
    .select({ id: found.id })
    .from(found)
    .where(isNotNull(found.id))
    .orderBy(desc(found.id))
    .limit(limit);
  return db
    .select(listedColumns(db))
    .from(builds)
    .where(inArray(builds.id, ids))
    .orderBy(desc(builds.id)) as unknown as PromiseLike<ListedBuild[]>;
}

export function listBuildsById(db: Reader, ids: string[]): PromiseLike<ListedBuild[]> {
  const { builds } = db.tables;
  return db.select(listedColumns(db)).from(builds).where(inArray(builds.id, ids)) as unknown as PromiseLike<
    ListedBuild[]
  >;
}

/** The texts of the newest builds after another one. */
export function listBuildsMadeAfter(
  db: Reader,
  organizationId: string,
  after: string,
  limit: number,
): PromiseLike<BuildTexts[]> {
  const { builds } = db.tables;
  return db
    .select(textColumns(db))
    .from(builds)
    .where(and(eq(builds.organizationId, organizationId), gt(builds.id, after)))
    .orderBy(desc(builds.id))
    .limit(limit);
}
