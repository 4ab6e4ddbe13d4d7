import { and, count, desc, lt, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { Reader } from "../../db/database.ts";
import type { ListCursor } from "../../db/list-page.ts";
import { type Prepared, prepared } from "../../db/prepared.ts";
import { idAboveAll } from "../../ids.ts";
import { type BuildListPlan, type ListForm, named } from "./list-plan-store.ts";

type Key = string | number;

/** At most `size` builds of the streams, before `rest` leaves some out. */
export interface Slice {
  /** The number or id of the build before the first. */
  after: Key | undefined;
  size: number;
}

const maxInteger = 2 ** 31 - 1;

export function keyOfCursor(db: Reader, { order }: BuildListPlan, { number, id }: ListCursor): Key {
  return order === db.tables.builds.id ? id : Math.min(number, maxInteger);
}

/** Reads slices by a statement that is built once for each form. */
function preparedSlice<Row>(build: (db: Reader, form: ListForm) => { prepare(): Prepared<Row> }) {
  const known = new WeakMap<ListForm, (db: Reader, values: object) => PromiseLike<Row[]>>();
  return (db: Reader, plan: BuildListPlan, { after, size, ...page }: Slice & Partial<SlicePage>) => {
    const { form, values, order } = plan;
    const read = known.get(form) ?? prepared<object, Row, Reader>((reader) => build(reader, form));
    known.set(form, read);
    const end = order === db.tables.builds.id ? idAboveAll : maxInteger;
    return read(db, { ...values, ...page, after: after ?? end, size, last: size - 1 });
  };
}

interface SlicePage {
  limit: number;
  offset: number;
}

export type ListSlice<Row> = (
  db: Reader,
  plan: BuildListPlan,
  slice: Slice & SlicePage,
) => PromiseLike<Row[]>;

/** Lists the builds of a slice that pass the rest of the filter. */
export function listSliceOf<Row extends { id: string }>(
  columnsOf: (db: Reader) => Record<keyof Row & string, SQLiteColumn | SQL>,
): ListSlice<Row> {
  return preparedSlice<Row>((db, form) => {
    const { builds } = db.tables;
    const ids = sql`select id from ${passing(db, form)} order by place desc limit ${named("limit")} offset ${named("offset")}`;
    const rows = db
      .select(columnsOf(db))
      .from(builds)
      .where(sql`${builds.id} in (${ids})`)
      .orderBy(desc(form.order));
    return rows as unknown as { prepare(): Prepared<Row> };
  });
}

const counts = preparedSlice<{ total: number }>((db, form) =>
  db.select({ total: count() }).from(passing(db, form)),
);

/** Counts the builds of a slice that pass the rest of the filter. */
export async function countSlice(db: Reader, plan: BuildListPlan, slice: Slice): Promise<number> {
  const [row] = await counts(db, plan, slice);
  return row?.total ?? 0;
}

const ends = preparedSlice<{ key: Key }>((db, form) =>
  db
    .select({ key: sql<Key>`place` })
    .from(sql`(${entriesOf(db, form)}) as slice`)
    .orderBy(sql`place desc`)
    .limit(1)
    .offset(named("last")),
);

/** The key of the last build of a slice. Undefined if the list ends before the slice is full. */
export async function findEndOfSlice(
  db: Reader,
  plan: BuildListPlan,
  slice: Slice,
): Promise<Key | undefined> {
  const [last] = await ends(db, plan, slice);
  return last?.key;
}

/** The rest of the filter looks at the slice alone: joined with the table, Postgres may read all of it. */
function passing(db: Reader, form: ListForm): SQL {
  const entries = sql`(${entriesOf(db, form)}) as slice`;
  if (form.rest.length === 0) return entries;
  return sql`${entries} where ${and(...form.rest.map(({ condition }) => condition))}`;
}

/** Merges the streams: one statement for each, with its own limit, or the databases would sort them all. */
function entriesOf(db: Reader, { streams, rest, order }: ListForm): SQL {
  const { builds } = db.tables;
  const { pipelineId, state, branch, commit, message, pullRequestNumber } = builds;
  const { isPaused, createdAt, creatorId, finishedAt } = builds;
  const filtered = {
    pipelineId,
    state,
    branch,
    commit,
    message,
    pullRequestNumber,
    isPaused,
    createdAt,
    creatorId,
    finishedAt,
  };
  const parts = streams.map((stream, index) => {
    const part = db
      .select({ id: builds.id, place: sql`${order}`.as("place"), ...(rest.length > 0 && filtered) })
      .from(builds)
      .where(and(stream, lt(order, named("after"))))
      .orderBy(desc(order))
      .limit(named("size"))
      .as(`stream_${index}`);
    return sql`select * from ${part}`;
  });
  if (parts.length === 1) return parts[0] as SQL;
  return sql`${sql.join(parts, sql` union all `)} order by place desc limit ${named("size")}`;
}
