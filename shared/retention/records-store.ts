import { and, asc, eq, gt, gte, inArray, lt, type SQL, sql, sum } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { octetsOf } from "../db/columns.ts";
import type { Db, Tx } from "../db/database.ts";
import type { Tables } from "../db/schema.ts";
import { lockSharedValue, putSharedValue } from "../db/shared-values-store.ts";
import type { OrganizationBytes } from "./totals-store.ts";

/** Ids, without `below`. */
export interface IdRange {
  from: string;
  below: string;
}

/** The bytes of a record, or of jobs of a build: the id says in which hour they are totalled. */
export interface RecordBytes extends OrganizationBytes {
  id: string;
}

/**
 * Rows with their indexes take about this much on both databases, without their texts. A new column of people's text
 * belongs into the statements below, which add up texts: nothing notices if it is missing.
 */
export const rowBytes = {
  build: 1000,
  job: 600,
  metaData: 100,
  agent: 900,
  auditEvent: 1000,
  pipeline: 1300,
  secret: 500,
  trigger: 900,
  graph: 100,
  artifact: 700,
  annotation: 300,
};

/** Records of one row each, which nothing goes with. */
export const flatKinds = ["agents", "auditEvents", "pipelines", "secrets", "triggers"] as const;
export type FlatKind = (typeof flatKinds)[number];

/** Records with lower ids are in the totals. The migration writes the first value. */
const countedBelowName = "records_counted_below";

/**
 * Locks the totals of records, so that nothing is counted and deleted at once. Transactions that create records never
 * lock them.
 * @returns the id below which records are in the totals
 */
export function lockRecordTotals(tx: Tx): Promise<string> {
  return lockSharedValue(tx, countedBelowName);
}

export function setRecordsCountedBelow(tx: Tx, id: string): Promise<void> {
  return putSharedValue(tx, countedBelowName, id);
}

/** Finds the first id of a range, or the first after `skipped` ids. */
export async function findRecordId(
  db: Db | Tx,
  kind: "builds" | "jobs" | FlatKind,
  { from, below }: IdRange,
  skipped: number,
): Promise<string | undefined> {
  const { id } = db.tables[kind];
  const [found] = await db
    .select({ id })
    .from(db.tables[kind])
    .where(and(gte(id, from), lt(id, below)))
    .orderBy(asc(id))
    .limit(1)
    .offset(skipped);
  return found?.id;
}

/** Measures the new records of a range. Bytes of jobs have the id of their build. */
export async function measureNewRecords(tx: Tx, { from, below }: IdRange): Promise<RecordBytes[]> {
  const { builds, jobs } = tx.tables;
  const ofBuilds = await tx
    .select({
      id: builds.id,
      organizationId: builds.organizationId,
      bytes: sql`${buildRowBytes(tx.tables)} + ${restOfBuildBytes(tx)}`.mapWith(Number),
    })
    .from(builds)
    .where(and(gte(builds.id, from), lt(builds.id, below)));
  const ofJobs = await tx
    .select({
      id: builds.id,
      organizationId: builds.organizationId,
      bytes: sum(jobRowBytes(tx.tables)).mapWith(Number),
    })
    .from(jobs)
    .innerJoin(builds, eq(builds.id, jobs.buildId))
    .where(and(gte(jobs.id, from), lt(jobs.id, below)))
    .groupBy(builds.id, builds.organizationId);
  const flat: RecordBytes[] = [];
  for (const kind of flatKinds) {
    const { id } = tx.tables[kind];
    flat.push(...(await measureFlat(tx, kind, and(gte(id, from), lt(id, below)))));
  }
  return [...ofBuilds, ...ofJobs, ...flat];
}

/** Measures builds with all that goes with them, as far as the totals count it. */
export async function measureCountedBuilds(
  tx: Tx,
  ids: string[],
  countedBelow: string,
): Promise<RecordBytes[]> {
  const { builds } = tx.tables;
  return tx
    .select({
      id: builds.id,
      organizationId: builds.organizationId,
      bytes: wholeBuildBytes(tx, countedBelow).mapWith(Number),
    })
    .from(builds)
    .where(and(inArray(builds.id, ids), lt(builds.id, countedBelow)));
}

/** Measures rows of artifacts, as far as the totals of builds count them. @returns sums by build */
export async function measureCountedArtifactRows(
  tx: Tx,
  artifactIds: string[],
  countedBelow: string,
): Promise<RecordBytes[]> {
  const { artifacts, builds } = tx.tables;
  return tx
    .select({
      id: builds.id,
      organizationId: builds.organizationId,
      bytes: sum(artifactBytes(tx.tables)).mapWith(Number),
    })
    .from(artifacts)
    .innerJoin(builds, eq(builds.id, artifacts.buildId))
    .where(and(inArray(artifacts.id, artifactIds), lt(builds.id, countedBelow)))
    .groupBy(builds.id, builds.organizationId);
}

/** Measures builds with all that goes with them, off the event loop. */
export async function measureBuilds(db: Db, ids: string[]): Promise<{ id: string; bytes: number }[]> {
  const { builds } = db.tables;
  return db.offLoop
    .select({ id: builds.id, bytes: wholeBuildBytes(db).mapWith(Number) })
    .from(builds)
    .where(inArray(builds.id, ids));
}

export function measureFlatById(db: Db | Tx, kind: FlatKind, ids: string[]): Promise<RecordBytes[]> {
  return measureFlat(db, kind, inArray(db.tables[kind].id, ids));
}

async function measureFlat(db: Db | Tx, kind: FlatKind, where: SQL | undefined): Promise<RecordBytes[]> {
  const { id } = db.tables[kind];
  return db
    .select({
      id,
      organizationId: organizationOf(db, kind),
      bytes: flatRowBytes(db.tables, kind).mapWith(Number),
    })
    .from(db.tables[kind])
    .where(where);
}

/** Sums the builds of a range, with all that goes with them, off the event loop. */
export async function sumBuildBytes(
  db: Db,
  { from, below }: IdRange,
  countedBelow: string,
): Promise<OrganizationBytes[]> {
  const { builds } = db.tables;
  return db.offLoop
    .select({
      organizationId: builds.organizationId,
      bytes: sum(wholeBuildBytes(db, countedBelow)).mapWith(Number),
    })
    .from(builds)
    .where(and(gte(builds.id, from), lt(builds.id, below)))
    .groupBy(builds.organizationId);
}

/** Sums the records of a range, off the event loop. */
export async function sumFlatBytes(
  db: Db,
  kind: FlatKind,
  { from, below }: IdRange,
): Promise<OrganizationBytes[]> {
  const { id } = db.tables[kind];
  const organizationId = organizationOf(db, kind);
  return db.offLoop
    .select({ organizationId, bytes: sum(flatRowBytes(db.tables, kind)).mapWith(Number) })
    .from(db.tables[kind])
    .where(and(gte(id, from), lt(id, below)))
    .groupBy(organizationId);
}

export async function listRecordTotals(db: Db | Tx, hour: Date): Promise<OrganizationBytes[]> {
  const { recordTotals } = db.tables;
  return db
    .select({ organizationId: recordTotals.organizationId, bytes: recordTotals.bytes })
    .from(recordTotals)
    .where(eq(recordTotals.hour, hour))
    .orderBy(asc(recordTotals.organizationId));
}

export async function findTotalledHourAfter(db: Db, after: Date): Promise<Date | undefined> {
  const { hour } = db.tables.recordTotals;
  const [next] = await db
    .select({ hour })
    .from(db.tables.recordTotals)
    .where(gt(hour, after))
    .orderBy(asc(hour))
    .limit(1);
  return next?.hour;
}

export async function replaceRecordTotals(tx: Tx, hour: Date, totals: OrganizationBytes[]): Promise<void> {
  const { recordTotals } = tx.tables;
  await tx.delete(recordTotals).where(eq(recordTotals.hour, hour));
  await tx.insertMany(
    recordTotals,
    totals.map((each) => ({ ...each, hour })),
  );
}

/** Call it with every change of the totals: the organization's row has their sum. */
export async function addToRecordBytes(tx: Tx, { organizationId, bytes }: OrganizationBytes): Promise<void> {
  const { organizations } = tx.tables;
  await tx
    .update(organizations)
    .set({ recordBytes: sql`${organizations.recordBytes} + ${bytes}` })
    .where(eq(organizations.id, organizationId));
}

function bytesOf(rowBytes: number, columns: SQLiteColumn[]): SQL {
  const sizes = columns.map((column) => sql`coalesce(${octetsOf(column)}, 0)`);
  return sql.join([sql.raw(String(rowBytes)), ...sizes], sql` + `);
}

function buildRowBytes({ builds: { message, commit, branch, ...rest } }: Tables): SQL {
  return bytesOf(rowBytes.build, [message, commit, branch, rest.environmentSealed, rest.author]);
}

function jobRowBytes({ jobs: { ownLabel, ownCommand, ownOptions, failureReason } }: Tables): SQL {
  return bytesOf(rowBytes.job, [ownLabel, ownCommand, ownOptions, failureReason]);
}

function organizationOf(db: Db | Tx, kind: FlatKind): SQL<string> {
  const { pipelines, triggers } = db.tables;
  if (kind !== "triggers") return sql<string>`${db.tables[kind].organizationId}`;
  const found = db
    .select({ organizationId: pipelines.organizationId })
    .from(pipelines)
    .where(eq(pipelines.id, triggers.pipelineId));
  return sql<string>`${found}`;
}

function flatRowBytes({ agents, auditEvents, pipelines, secrets, triggers }: Tables, kind: FlatKind): SQL {
  switch (kind) {
    case "agents": {
      const { name, hostname, os, arch, version, build, metaData, userAgent, pausedNote } = agents;
      const columns = [name, hostname, os, arch, version, build, metaData, userAgent, pausedNote];
      return bytesOf(rowBytes.agent, columns);
    }
    case "auditEvents":
      return bytesOf(rowBytes.auditEvent, [auditEvents.subject, auditEvents.changes]);
    case "pipelines": {
      const { name, description, repository, environmentSealed, ...rest } = pipelines;
      const texts = [rest.steps, rest.configuration, rest.document, rest.branchConfiguration];
      const settings = [environmentSealed, rest.providerSettings];
      return bytesOf(rowBytes.pipeline, [name, description, repository, ...settings, ...texts]);
    }
    case "secrets":
      return bytesOf(rowBytes.secret, [
        secrets.key,
        secrets.description,
        secrets.policy,
        secrets.valueSealed,
      ]);
    case "triggers": {
      const { label, buildMessage, buildCommit, buildBranch, ...rest } = triggers;
      const texts = [rest.environmentSealed, rest.filter, rest.secretSealed, rest.tokenSealed];
      return bytesOf(rowBytes.trigger, [label, buildMessage, buildCommit, buildBranch, ...texts]);
    }
  }
}

function metaDataBytes(db: Db | Tx): SQL {
  const { builds, metaData } = db.tables;
  const bytes = db
    .select({ bytes: sum(bytesOf(rowBytes.metaData, [metaData.key, metaData.value])) })
    .from(metaData)
    .where(eq(metaData.buildId, builds.id));
  return sql`coalesce(${bytes}, 0)`;
}

function graphBytes(db: Db | Tx): SQL {
  const { builds, buildGraphs } = db.tables;
  const bytes = db
    .select({ bytes: bytesOf(rowBytes.graph, [buildGraphs.tree, buildGraphs.warnings]) })
    .from(buildGraphs)
    .where(eq(buildGraphs.buildId, builds.id));
  return sql`coalesce(${bytes}, 0)`;
}

/** Of the row alone: the files are in the totals of artifacts. */
function artifactBytes({ artifacts }: Tables): SQL {
  const { path, absolutePath, globPath, uploadDestination, url } = artifacts;
  return bytesOf(rowBytes.artifact, [path, absolutePath, globPath, uploadDestination, url]);
}

function artifactRowBytes(db: Db | Tx): SQL {
  const { builds, artifacts } = db.tables;
  const bytes = db
    .select({ bytes: sum(artifactBytes(db.tables)) })
    .from(artifacts)
    .where(eq(artifacts.buildId, builds.id));
  return sql`coalesce(${bytes}, 0)`;
}

function annotationBytes(db: Db | Tx): SQL {
  const { builds, annotations } = db.tables;
  const { context, body, html } = annotations;
  const bytes = db
    .select({ bytes: sum(bytesOf(rowBytes.annotation, [context, body, html])) })
    .from(annotations)
    .where(eq(annotations.buildId, builds.id));
  return sql`coalesce(${bytes}, 0)`;
}

/** All that goes with a build but its jobs. */
function restOfBuildBytes(db: Db | Tx): SQL {
  return sql`${metaDataBytes(db)} + ${graphBytes(db)} + ${annotationBytes(db)} + ${artifactRowBytes(db)}`;
}

/** @param jobsBelow leaves out later jobs */
function wholeBuildBytes(db: Db | Tx, jobsBelow?: string): SQL {
  const { builds, jobs } = db.tables;
  const ofJobs = db
    .select({ bytes: sum(jobRowBytes(db.tables)) })
    .from(jobs)
    .where(and(eq(jobs.buildId, builds.id), jobsBelow === undefined ? undefined : lt(jobs.id, jobsBelow)));
  return sql`${buildRowBytes(db.tables)} + coalesce(${ofJobs}, 0) + ${restOfBuildBytes(db)}`;
}
