import {
  and,
  asc,
  count,
  desc,
  eq,
  getTableColumns,
  gt,
  gte,
  inArray,
  isNotNull,
  lt,
  or,
  type SQL,
  sql,
  sum,
} from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { Db, Reader, Tx } from "../../db/database.ts";
import { isOneOf, isPostgres, listBy, preparedRow } from "../../db/prepared.ts";
import type { Tables } from "../../db/schema.ts";
import { finishedBuildStates } from "../../vocabulary.ts";
import { deleteWordsOfBuilds } from "../../words/store.ts";
import { firstOfStep, type Job, wholeJobs } from "./job-store.ts";

export type Build = Tables["builds"]["$inferSelect"];

/** A build as lists show it: without its variables and author, and with only the beginning of its message. */
export type ListedBuild = Omit<Build, "environmentSealed" | "author">;

/** Messages have up to 10,000 characters. */
const maxMessageCharacters = 400;

export function allColumns({ tables: { builds } }: Reader) {
  return getTableColumns(builds);
}

export function listedColumns({ tables: { builds } }: Reader) {
  const { environmentSealed: _, author: __, message, ...facts } = getTableColumns(builds);
  return { ...facts, message: beginning<string>(message, maxMessageCharacters) };
}

/** The first characters of a text. */
export function beginning<Text extends string | null>(column: SQLiteColumn, characters: number): SQL<Text> {
  return sql<Text>`substr(${column}, 1, ${sql.raw(`${characters}`)})`;
}

/** The last builds by pipeline id. */
export async function listLastBuilds(
  db: Db,
  pipelines: { id: string; lastBuildNumber: number }[],
): Promise<Map<string, ListedBuild>> {
  const { builds } = db.tables;
  if (pipelines.length === 0) return new Map();
  const isLast = pipelines.map(({ id, lastBuildNumber }) =>
    and(eq(builds.pipelineId, id), eq(builds.number, lastBuildNumber)),
  );
  const found = await db
    .select(listedColumns(db))
    .from(builds)
    .where(or(...isLast));
  return new Map(found.map((build) => [build.pipelineId, build]));
}

/** The number of a build in its pipeline, or its id. */
export type BuildKey = number | string;

export function findBuild(db: Db, pipelineId: string, key: BuildKey): Promise<Build | undefined> {
  return (typeof key === "number" ? buildByNumber : buildById)(db, { pipelineId, key });
}

const buildByNumber = buildBy(({ number }) => number);
const buildById = buildBy(({ id }) => id);

function buildBy(columnOf: (builds: Tables["builds"]) => SQLiteColumn) {
  return preparedRow<{ pipelineId: string; key: BuildKey }, Build, Db>((db) => {
    const { builds } = db.tables;
    const isKey = eq(columnOf(builds), sql.placeholder("key"));
    return db
      .select()
      .from(builds)
      .where(and(eq(builds.pipelineId, sql.placeholder("pipelineId")), isKey));
  });
}

export async function findBuildOfJob(
  db: Db,
  { organizationId, jobId }: { organizationId: string; jobId: string },
): Promise<Build | undefined> {
  const { builds, jobs } = db.tables;
  const [found] = await db
    .select(getTableColumns(builds))
    .from(jobs)
    .innerJoin(builds, eq(builds.id, jobs.buildId))
    .where(and(eq(jobs.id, jobId), eq(builds.organizationId, organizationId)));
  return found;
}

/** Stores which commit the build's one was, unless another job has done so. */
export async function resolveCommitIfStill(
  tx: Tx,
  { id, commit }: Pick<Build, "id" | "commit">,
  resolved: string,
): Promise<void> {
  const { builds } = tx.tables;
  await tx
    .update(builds)
    .set({ commit: resolved })
    .where(and(eq(builds.id, id), eq(builds.commit, commit)));
}

export async function listBuildsById(db: Db, ids: string[]): Promise<Map<string, Build>> {
  const found = await buildsById(db, ids);
  return new Map(found.map((build) => [build.id, build]));
}

const buildsById = listBy<Build, Db>(({ builds }) => builds.id);

/** The organizations of builds, by the id of the build. */
export async function findOwnersOfBuilds(tx: Tx, ids: string[]): Promise<Map<string, string>> {
  const { id, organizationId } = tx.tables.builds;
  const rows = await tx.select({ id, organizationId }).from(tx.tables.builds).where(inArray(id, ids));
  return new Map(rows.map((row) => [row.id, row.organizationId]));
}

export async function listBuildNumbers(db: Db | Tx, ids: string[]): Promise<Pick<Build, "id" | "number">[]> {
  const { builds } = db.tables;
  if (ids.length === 0) return [];
  return db.select({ id: builds.id, number: builds.number }).from(builds).where(inArray(builds.id, ids));
}

export async function listBuildsOfDeliveries(db: Db | Tx, deliveryIds: string[]): Promise<Build[]> {
  const { builds } = db.tables;
  if (deliveryIds.length === 0) return [];
  return db.select().from(builds).where(inArray(builds.deliveryId, deliveryIds)).orderBy(asc(builds.number));
}

export type BuildOfDelivery = Pick<Build, "id" | "number" | "rebuild"> & { deliveryId: string | null };

/** A build with what lists say of its delivery. */
export type BuildInDeliveries = BuildOfDelivery & Pick<Build, "branch" | "message" | "state">;

/** The last builds of each delivery: `limit` of each, and one more if there is one. */
export async function listLastBuildsOfDeliveries(
  db: Db,
  deliveryIds: string[],
  limit: number,
): Promise<BuildInDeliveries[]> {
  const { builds } = db.tables;
  const { id, number, rebuild, deliveryId, branch, message, state } = builds;
  const last = [...(await listLastRebuilds(db, deliveryIds))];
  if (last.length === 0) return [];
  const areLast = last.map(([delivery, highest]) =>
    and(eq(deliveryId, delivery), gte(rebuild, highest - limit)),
  );
  return db
    .select({
      id,
      number,
      rebuild,
      deliveryId,
      branch,
      state,
      message: beginning<string>(message, maxMessageCharacters),
    })
    .from(builds)
    .where(or(...areLast))
    .orderBy(asc(number));
}

/** The builds of a delivery whose rebuild numbers are in a range, lowest first. */
export async function listRebuilds(
  db: Db,
  deliveryIds: string[],
  { from, below }: { from: number; below: number },
): Promise<BuildOfDelivery[]> {
  const { builds } = db.tables;
  const { id, number, rebuild, position, deliveryId } = builds;
  return db
    .select({ id, number, rebuild, deliveryId })
    .from(builds)
    .where(and(inArray(deliveryId, deliveryIds), gte(rebuild, from), lt(rebuild, below)))
    .orderBy(asc(rebuild), asc(position));
}

/** The highest rebuild number of each delivery that was built. Reads one entry of an index for each. */
export async function listLastRebuilds(db: Db | Tx, deliveryIds: string[]): Promise<Map<string, number>> {
  const { builds, deliveries } = db.tables;
  if (deliveryIds.length === 0) return new Map();
  const last = db
    .select({ rebuild: builds.rebuild })
    .from(builds)
    .where(eq(builds.deliveryId, deliveries.id))
    .orderBy(desc(builds.rebuild))
    .limit(1);
  const rows = await db
    .select({ id: deliveries.id, last: sql<number | null>`(${last})` })
    .from(deliveries)
    .where(inArray(deliveries.id, deliveryIds));
  return new Map(rows.flatMap(({ id, last }): [string, number][] => (last === null ? [] : [[id, last]])));
}

/** The first one, if the delivery reports several changes. */
export async function findBuildOfDelivery(
  tx: Tx,
  deliveryId: string,
  rebuild: number,
): Promise<Build | undefined> {
  const { builds } = tx.tables;
  const [first] = await tx
    .select()
    .from(builds)
    .where(and(eq(builds.deliveryId, deliveryId), eq(builds.rebuild, rebuild)))
    .orderBy(asc(builds.position))
    .limit(1);
  return first;
}

/** The changes of deliveries that are built: their positions, not counting rebuilds. */
export async function listPositions(
  tx: Tx,
  deliveryIds: string[],
): Promise<{ deliveryId: string | null; position: number }[]> {
  const { builds } = tx.tables;
  if (deliveryIds.length === 0) return [];
  return tx
    .select({ deliveryId: builds.deliveryId, position: builds.position })
    .from(builds)
    .where(and(inArray(builds.deliveryId, deliveryIds), eq(builds.rebuild, 0)));
}

export async function listJobs(db: Db, buildIds: string[]) {
  const { jobs, queues } = db.tables;
  if (buildIds.length === 0) return [];
  const rows = await db
    .select({ job: jobs, queue: { id: queues.id, key: queues.key, clusterId: queues.clusterId } })
    .from(jobs)
    .leftJoin(queues, eq(queues.id, jobs.queueId)) // a waiter has none
    .where(inArray(jobs.buildId, buildIds))
    .orderBy(asc(jobs.position), asc(jobs.id));
  const whole = wholeJobs(rows.map(({ job }) => job));
  return rows.map(({ queue }, index) => ({ job: whole[index] as Job, queue }));
}

/** Counts the jobs of builds, retried ones too, and the bytes of their steps. */
export async function measureJobs(db: Db | Tx, buildIds: string[]): Promise<{ jobs: number; bytes: number }> {
  const found = await sizesOfJobs(db, { buildIds });
  return { jobs: found?.jobs ?? 0, bytes: found?.bytes ?? 0 };
}

const sizesOfJobs = preparedRow<{ buildIds: string[] }, { jobs: number; bytes: number | null }>((db) => {
  const { jobs } = db.tables;
  const first = firstOfStep(db);
  return db
    .select({ jobs: count(), bytes: sum(sizeOfStep(db)).mapWith(Number) })
    .from(jobs)
    .leftJoin(first.table, first.isReferredTo)
    .where(isOneOf(jobs.buildId, "buildIds"));
});

/** The bytes of a job's step, which the first job of the step may have. Join that one. */
export function sizeOfStep(db: Reader | Tx): SQL {
  const { table: first } = firstOfStep(db);
  const { jobs } = db.tables;
  const text = sql`case when ${first.id} is null then ${sizeOfText(jobs)} else ${sizeOfText(first)} end`;
  return sql`${text} + octet_length(${jobs.agentRules})`;
}

function sizeOfText(job: Record<"ownLabel" | "ownCommand" | "ownOptions", SQLiteColumn>): SQL {
  // SQLite would read the text for a cast.
  const options = isPostgres(job.ownOptions) ? sql`cast(${job.ownOptions} as text)` : job.ownOptions;
  const values = [job.ownLabel, job.ownCommand, options];
  return sql.join(
    values.map((value) => sql`coalesce(octet_length(${value}), 0)`),
    sql` + `,
  );
}

export type BuildTimes = Omit<Awaited<ReturnType<typeof listBuildTimes>>[number], "createdAt">;

/** The last builds of a pipeline, newest first. */
export async function listBuildTimes(db: Db, pipelineId: string, limit: number) {
  const { builds } = db.tables;
  const { number, state, createdAt, startedAt, finishedAt, workedMs, workingSince } = builds;
  return db
    .select({ number, state, createdAt, startedAt, finishedAt, workedMs, workingSince })
    .from(builds)
    .where(eq(builds.pipelineId, pipelineId))
    .orderBy(desc(number))
    .limit(limit);
}

/** The last builds of a schedule, newest first. */
export async function listScheduledBuilds(db: Db, scheduleId: string, limit: number) {
  const { number, state, scheduleId: schedule, scheduledFor } = db.tables.builds;
  return db
    .select({ number, state, scheduledFor })
    .from(db.tables.builds)
    .where(eq(schedule, scheduleId))
    .orderBy(desc(scheduledFor))
    .limit(limit);
}

/** Deleted pipelines in the order of their ids, and which of them have builds. Their rows stay. */
export async function listDeletedPipelines(db: Db, after: string | undefined, limit: number) {
  const { builds, pipelines } = db.tables;
  // Postgres would turn "exists" into a join that reads all builds.
  const first = db.select({ id: builds.id }).from(builds).where(eq(builds.pipelineId, pipelines.id)).limit(1);
  const isNext = after === undefined ? undefined : gt(pipelines.id, after);
  return db.offLoop
    .select({ id: pipelines.id, firstBuild: sql<string | null>`(${first})` })
    .from(pipelines)
    .where(and(isNotNull(pipelines.deletedAt), isNext))
    .orderBy(asc(pipelines.id))
    .limit(limit);
}

export async function listBuildsOfPipelines(
  db: Db | Tx,
  pipelineIds: string[],
  limit: number,
): Promise<string[]> {
  const { builds } = db.tables;
  if (pipelineIds.length === 0) return [];
  const rows = await db
    .select({ id: builds.id })
    .from(builds)
    .where(inArray(builds.pipelineId, pipelineIds))
    .orderBy(asc(builds.pipelineId), asc(builds.number)) // else Postgres looks for them through the whole table
    .limit(limit);
  return rows.map(({ id }) => id);
}

export async function listBuildsFinishedBefore(db: Db | Tx, time: Date, limit: number): Promise<string[]> {
  const { builds } = db.tables;
  const rows = await db
    .select({ id: builds.id })
    .from(builds)
    .where(and(inArray(builds.state, finishedBuildStates), lt(builds.finishedAt, time)))
    .limit(limit);
  return rows.map(({ id }) => id);
}

/** Deletes their words, and by cascade their jobs and meta-data. Returns how many builds it deleted. */
export async function deleteBuilds(tx: Tx, ids: string[]): Promise<number> {
  const { builds } = tx.tables;
  await deleteWordsOfBuilds(tx, ids);
  const deleted = await tx.delete(builds).where(inArray(builds.id, ids)).returning({ id: builds.id });
  return deleted.length;
}
