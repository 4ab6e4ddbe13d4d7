import { and, asc, count, desc, eq, inArray, ne, type SQL, sql, sum } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { Db, Tx } from "../db/database.ts";
import { listCreated } from "../db/list-page.ts";
import type { Tables } from "../db/schema.ts";
import type { AnnotationScope, AnnotationStyle } from "../vocabulary.ts";

/** An annotation without its texts, which may have megabytes. */
export type Annotation = Omit<Tables["annotations"]["$inferSelect"], "body" | "html">;

/** A build or a job of it. */
export interface AnnotationOwner {
  buildId: string;
  /** Null: annotations of the build itself. */
  jobId: string | null;
}

/** Locks nothing: the caller has locked the build. */
export function findAnnotation(
  tx: Tx,
  key: { scopeId: string; context: string },
): Promise<(Annotation & { bytes: number }) | undefined> {
  const { annotations } = tx.tables;
  return firstOf(
    tx
      .select({ ...columnsOf(tx), bytes: bytesOf(annotations.body).mapWith(Number) })
      .from(annotations)
      .where(and(eq(annotations.scopeId, key.scopeId), eq(annotations.context, key.context))),
  );
}

/** Measures the annotations of a build and its jobs, except one: their bodies, and the HTML that is stored of them. */
export async function measureAnnotations(
  tx: Tx,
  buildId: string,
  exceptId: string | undefined,
): Promise<{ annotations: number; bytes: number; htmlBytes: number }> {
  const { annotations } = tx.tables;
  const [found] = await tx
    .select({
      annotations: count(),
      bytes: sum(bytesOf(annotations.body)).mapWith(Number),
      htmlBytes: sum(bytesOf(annotations.html)).mapWith(Number),
    })
    .from(annotations)
    .where(
      and(
        eq(annotations.buildId, buildId),
        exceptId === undefined ? undefined : ne(annotations.id, exceptId),
      ),
    );
  return {
    annotations: found?.annotations ?? 0,
    bytes: found?.bytes ?? 0,
    htmlBytes: found?.htmlBytes ?? 0,
  };
}

export async function insertAnnotation(tx: Tx, row: Annotation & { body: string }): Promise<void> {
  await tx.insertMany(tx.tables.annotations, [{ ...row, html: null }]);
}

export interface AnnotationChange {
  style?: AnnotationStyle | undefined;
  priority?: number | undefined;
  /** Replaces the body, or is added to it. */
  body?: { text: string; isAdded: boolean } | undefined;
  updatedAt: Date;
}

/** A new body is not rendered yet. */
export async function changeAnnotation(tx: Tx, id: string, change: AnnotationChange): Promise<void> {
  const { annotations } = tx.tables;
  const { body, ...others } = change;
  const text = body?.isAdded ? sql`${annotations.body} || ${body.text}` : body?.text;
  await tx
    .update(annotations)
    .set({ ...others, ...(text !== undefined && { body: text, html: null }) })
    .where(eq(annotations.id, id));
}

/** @returns false if there is none */
export async function deleteAnnotation(tx: Tx, buildId: string, where: { id: string } | AnnotationKey) {
  const { annotations } = tx.tables;
  const isWanted =
    "id" in where
      ? eq(annotations.id, where.id)
      : and(eq(annotations.scopeId, where.scopeId), eq(annotations.context, where.context));
  const deleted = await tx
    .delete(annotations)
    .where(and(eq(annotations.buildId, buildId), isWanted))
    .returning({ id: annotations.id });
  return deleted.length > 0;
}

export interface AnnotationKey {
  scopeId: string;
  context: string;
}

/** @param jobId of one job only */
export async function findAnnotationOfBuild(
  db: Db,
  buildId: string,
  id: string,
): Promise<Annotation | undefined> {
  const { annotations } = db.tables;
  return firstOf(
    db
      .select(columnsOf(db))
      .from(annotations)
      .where(and(eq(annotations.id, id), eq(annotations.buildId, buildId))),
  );
}

/** As its author wrote it. */
export async function findBody(db: Db, id: string): Promise<string | undefined> {
  const { annotations } = db.tables;
  const query = db.select({ body: annotations.body }).from(annotations).where(eq(annotations.id, id));
  return (await firstOf(query))?.body;
}

/** In the order of their creation. */
export const listAnnotations = listCreated<
  { buildId: string; jobId?: string | undefined; scope?: AnnotationScope | undefined },
  Annotation
>((db, given) => {
  const { annotations } = db.tables;
  const filters = (["buildId", "jobId", "scope"] as const).filter((name) => given.has(name));
  const where = and(...filters.map((name) => eq(annotations[name], sql.placeholder(name))));
  return { table: annotations, where, columns: columnsOf(db) };
});

/** All annotations of a build or of one of its jobs, the highest priority first, with the sizes of their bodies and HTML. */
export async function listAnnotationsForPage(
  db: Db,
  { buildId, jobId }: AnnotationOwner,
): Promise<(Annotation & { bytes: number; htmlBytes: number | null })[]> {
  const { annotations } = db.tables;
  return db
    .select({
      ...columnsOf(db),
      bytes: bytesOf(annotations.body).mapWith(Number),
      htmlBytes: bytesOf(annotations.html),
    })
    .from(annotations)
    .where(
      jobId === null
        ? and(eq(annotations.buildId, buildId), eq(annotations.scope, "build"))
        : and(eq(annotations.buildId, buildId), eq(annotations.jobId, jobId)),
    )
    .orderBy(desc(annotations.priority), asc(annotations.createdAt), asc(annotations.id));
}

export type NamedArtifact = Pick<
  Tables["artifacts"]["$inferSelect"],
  "id" | "path" | "uploadDestination" | "url"
>;

/** Of each of these paths the newest finished artifact of a build, however many have it. The newest first. */
export async function listArtifactsOfPaths(
  db: Db,
  buildId: string,
  paths: string[],
): Promise<NamedArtifact[]> {
  const { artifacts } = db.tables;
  const { id, path, uploadDestination, url } = artifacts;
  const place = sql<number>`row_number() over (partition by ${path} order by ${id} desc)`;
  const ranked = db.offLoop
    .select({ id, path, uploadDestination, url, place: place.as("place") })
    .from(artifacts)
    .where(
      and(eq(artifacts.buildId, buildId), eq(artifacts.state, "finished"), inArray(artifacts.path, paths)),
    )
    .as("ranked");
  return db.offLoop
    .select({
      id: ranked.id,
      path: ranked.path,
      uploadDestination: ranked.uploadDestination,
      url: ranked.url,
    })
    .from(ranked)
    .where(eq(ranked.place, 1))
    .orderBy(desc(ranked.id));
}

function columnsOf({ tables: { annotations } }: { tables: Tables }) {
  const { id, buildId, jobId, scope, scopeId, context, style, priority, createdAt, updatedAt } = annotations;
  return { id, buildId, jobId, scope, scopeId, context, style, priority, createdAt, updatedAt };
}

/** Of text, in UTF-8. Null: there is none. */
export function bytesOf(column: SQLiteColumn): SQL<number | null> {
  return sql<number | null>`octet_length(${column})`;
}

async function firstOf<Row>(rows: PromiseLike<Row[]>): Promise<Row | undefined> {
  return (await rows)[0];
}
