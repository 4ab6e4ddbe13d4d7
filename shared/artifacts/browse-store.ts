import { and, asc, eq, gt } from "drizzle-orm";
import type { Db } from "../db/database.ts";
import {
  capTotal,
  countUpTo,
  type ListedRows,
  type ListPage,
  listedRows,
  readerFor,
} from "../db/list-page.ts";
import type { Tables } from "../db/schema.ts";
import type { ArtifactState } from "../vocabulary.ts";
import type { Artifact } from "./store.ts";

export interface ArtifactFilter {
  buildId: string;
  /** Undefined: of all jobs. */
  jobId: string | undefined;
  /** Undefined: any. */
  state: ArtifactState | undefined;
}

/** Undefined also for an artifact of another build. */
export async function findArtifactOfBuild(
  db: Db,
  buildId: string,
  id: string,
): Promise<Artifact | undefined> {
  const { artifacts } = db.tables;
  const [found] = await db
    .select()
    .from(artifacts)
    .where(and(eq(artifacts.id, id), eq(artifacts.buildId, buildId)));
  return found;
}

/** In the order in which they were announced. */
export async function listArtifactsPage(
  db: Db,
  filter: ArtifactFilter,
  page: ListPage,
): Promise<ListedRows<Artifact>> {
  const { artifacts } = db.tables;
  const { offset, after, limit } = page;
  const where = isAsked(db.tables, filter);
  const total = capTotal(await countUpTo(db, artifacts, where));
  const rows = await readerFor(db, after ? 0 : offset)
    .select()
    .from(artifacts)
    .where(and(where, after && gt(artifacts.id, after.id)))
    .orderBy(asc(artifacts.id))
    .limit(limit + 1)
    .offset(after ? 0 : offset);
  return listedRows(rows, page, { total, cursorOf: cursorOfArtifact });
}

/** By the job that left them, in the order of the build's steps, then by path. */
export async function listArtifactsByJob(
  db: Db,
  filter: Omit<ArtifactFilter, "state">,
  page: ListPage,
): Promise<ListedRows<Artifact>> {
  const { artifacts, jobs } = db.tables;
  const where = isAsked(db.tables, { ...filter, state: undefined });
  const total = capTotal(await countUpTo(db, artifacts, where));
  const rows = await db.offLoop
    .select({ artifact: artifacts })
    .from(artifacts)
    .innerJoin(jobs, eq(jobs.id, artifacts.jobId))
    .where(where)
    .orderBy(asc(jobs.position), asc(jobs.id), asc(artifacts.path), asc(artifacts.id))
    .limit(page.limit + 1)
    .offset(page.offset);
  const found = rows.map(({ artifact }) => artifact);
  return listedRows(found, page, { total, cursorOf: cursorOfArtifact });
}

/** Counts no further than `limit`. */
export function countArtifactsUpTo(
  db: Db,
  filter: Omit<ArtifactFilter, "state">,
  limit: number,
): Promise<number> {
  return countUpTo(db, db.tables.artifacts, isAsked(db.tables, { ...filter, state: undefined }), limit);
}

export function cursorOfArtifact({ createdAt, id }: Artifact) {
  return { number: createdAt.getTime(), id };
}

/** An index finds the artifacts of a job, another those of a build. */
function isAsked({ artifacts }: Tables, { buildId, jobId, state }: ArtifactFilter) {
  return and(
    eq(artifacts.buildId, buildId),
    jobId === undefined ? undefined : eq(artifacts.jobId, jobId),
    state && eq(artifacts.state, state),
  );
}
