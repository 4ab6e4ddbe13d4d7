import { type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { Db, Reader } from "../db/database.ts";
import { isPostgres, prepared } from "../db/prepared.ts";
import { factColumns, isPresentAmong, type PipelineFacts } from "./store.ts";

// Answers of REST have whole pipelines. These reads tell how large they are, and leave their steps as they are stored.

/** A pipeline whose steps are JSON as they are stored: to parse all of a page at once takes long. */
export interface UnparsedPipeline extends PipelineFacts {
  steps: string;
  configuration: string | null;
}

export interface PipelineSize {
  id: string;
  slug: string;
  /** Of its texts. */
  bytes: number;
}

/** SQLite knows the sizes without reading the texts, Postgres reads each. */
export const listPipelineSizes = prepared<{ ids: string[] }, PipelineSize>((db) => {
  const { id, slug, steps, configuration } = db.tables.pipelines;
  const text = isPostgres(steps) ? asText(steps) : steps; // SQLite would read the text for a cast
  const bytes = sql`octet_length(${text}) + coalesce(octet_length(${configuration}), 0)`;
  return db
    .select({ id, slug, bytes: bytes.mapWith(Number) })
    .from(db.tables.pipelines)
    .where(isPresentAmong(db));
});

/** Reads small pipelines. On SQLite it blocks the event loop. */
export const listUnparsedPipelines = prepared<{ ids: string[] }, UnparsedPipeline>(selectUnparsed);
/** Reads large pipelines off the event loop. */
export const listLargeUnparsedPipelines = prepared<{ ids: string[] }, UnparsedPipeline, Db>(({ offLoop }) =>
  selectUnparsed(offLoop),
);

function selectUnparsed(db: Reader) {
  const { configuration, steps } = db.tables.pipelines;
  return db
    .select({ ...factColumns(db), configuration, steps: asText(steps) })
    .from(db.tables.pipelines)
    .where(isPresentAmong(db));
}

function asText(json: SQLiteColumn): SQL<string> {
  return sql`cast(${json} as text)`;
}
