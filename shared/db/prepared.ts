import { Column, eq, getTableName, is, noopDecoder, type SQL, Subquery, sql } from "drizzle-orm";
import { type AnySQLiteColumn, SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { Db, Reader, Tx } from "./database.ts";
import type { Tables } from "./schema.ts";
import { refuseInsideTransaction } from "./transaction-guard.ts";

export interface Prepared<Row> {
  execute(values: Record<string, unknown>): PromiseLike<Row[]>;
}

/**
 * Builds a query once per database: building costs several times as much as running. Null in a column that is not text
 * needs `sql.param(sql.placeholder(name), column)`.
 */
export function prepared<Values extends object, Row, On extends Reader | Tx = Db | Tx>(
  build: (db: On) => { prepare(): Prepared<Row> },
): (db: On, values: Values) => PromiseLike<Row[]> {
  const known = new WeakMap<On, Prepared<Row>>();
  return (db, values) => {
    if ("transaction" in db) refuseInsideTransaction("A read through db");
    const query = known.get(db) ?? mapRowsOf(build(db).prepare());
    known.set(db, query);
    return query.execute(values as Record<string, unknown>);
  };
}

/** Like `prepared`, for one row at most. */
export function preparedRow<Values extends object, Row, On extends Db | Tx = Db | Tx>(
  build: (db: On) => { prepare(): Prepared<Row> },
): (db: On, values: Values) => Promise<Row | undefined> {
  const rows = prepared<Values, Row, On>(build);
  return async (db, values) => (await rows(db, values))[0];
}

/**
 * A prepared query for the one row that has a value in a column.
 * @param columnOf names a unique column of the row's table
 */
export function findBy<Row, On extends Db | Tx = Db | Tx>(
  columnOf: (tables: Tables) => SQLiteColumn,
): (db: On, value: string) => Promise<Row | undefined> {
  const row = preparedRow<{ value: string }, Row, On>((db) => {
    const column = columnOf(db.tables);
    const found = db
      .select()
      .from(column.table)
      .where(eq(column, sql.placeholder("value")));
    return found as unknown as { prepare(): Prepared<Row> };
  });
  return (db, value) => row(db, { value });
}

/**
 * A prepared query for the rows that have one of the given values in a column. Without values it reads nothing.
 * @param columnOf names the column
 */
export function listBy<Row, On extends Db | Tx = Db | Tx>(
  columnOf: (tables: Tables) => SQLiteColumn,
): (db: On, values: string[]) => Promise<Row[]> {
  const rows = prepared<{ values: string[] }, Row, On>((db) => {
    const column = columnOf(db.tables);
    const found = db.select().from(column.table).where(isOneOf(column, "values"));
    return found as unknown as { prepare(): Prepared<Row> };
  });
  return async (db, values) => (values.length === 0 ? [] : rows(db, { values }));
}

/** A value of a prepared query for a column, given by name. It may be null. */
export function valueFor(column: AnySQLiteColumn, name: string): SQL {
  const encoder = {
    mapToDriverValue: (value: unknown) => (value === null ? null : column.mapToDriverValue(value)),
  };
  return sql`${sql.param(sql.placeholder(name), encoder)}`;
}

/**
 * The condition of a prepared query that a column has one of the values of a list, given by name. One text for lists of
 * any length: to put `inArray` together costs more than running it.
 */
export function isOneOf(column: AnySQLiteColumn, name: string): SQL {
  const list = sql.placeholder(name);
  if (isPostgres(column)) return sql`${column} = any(${list})`;
  return sql`${column} in (select value from json_each(${sql.param(list, jsonText)}))`;
}

/**
 * The condition of a prepared query that columns have the values of one of the rows of a list, given by name: arrays, in
 * the order of the columns.
 */
export function isOneOfRows(columns: AnySQLiteColumn[], name: string): SQL {
  const list = sql.param(sql.placeholder(name), jsonText);
  const isOfPostgres = columns.every(isPostgres);
  const values = columns.map((column, index) => {
    const value = sql`value ->> ${sql.raw(String(index))}`;
    return isOfPostgres ? sql`(${value})::${sql.raw(column.getSQLType())}` : value;
  });
  const rows = isOfPostgres ? sql`json_array_elements(${list}::json) as row(value)` : sql`json_each(${list})`;
  return sql`(${sql.join(columns, sql`, `)}) in (select ${sql.join(values, sql`, `)} from ${rows})`;
}

/** For the few expressions that both databases have in different words. */
export function isPostgres(column: AnySQLiteColumn): boolean {
  return !is(column, SQLiteColumn);
}

const jsonText = { mapToDriverValue: JSON.stringify };

/** A column of a result: where its value goes, and what it is. */
interface Field {
  path: string[];
  field: Column | SQL | { sql: SQL };
}

/** Members of drizzle's prepared queries, of all drivers. */
interface DrizzleQuery {
  fields?: Field[];
  /** By table: false if a join may find no row of it. */
  joinsNotNullableMap?: Record<string, boolean>;
  customResultMapper?: (rows: unknown[][]) => unknown[];
}

/** Undefined: the value stays as it is. */
type Decode = ((value: unknown) => unknown) | undefined;

/**
 * Makes a prepared query decide once how its columns become members. drizzle itself decides it for each row: that takes
 * three times as long. Other queries are returned as they are.
 */
function mapRowsOf<Query>(query: Query): Query {
  const { fields, customResultMapper, joinsNotNullableMap } = query as DrizzleQuery;
  if (!fields || customResultMapper || fields.some(isOther)) return query;
  const columns = fields.map(({ path, field }, index) => ({ path, index, decode: decoderOf(field) }));
  const ofRow = columns.filter(({ path }) => path.length === 1);
  const objects = Map.groupBy(
    columns.filter(({ path }) => path.length === 2),
    ({ path: [name = ""] }) => name,
  );
  const mapOwn = mapMembers(ofRow);
  const mapObjects = [...objects].map(([name, members]) => ({ name, map: mapMembers(members) }));
  const joined = joinedObjects(fields, joinsNotNullableMap);
  const mapRow = (row: unknown[]) => {
    const result = mapOwn(row);
    for (const { name, map } of mapObjects) result[name] = map(row);
    for (const { name, index } of joined) if (row[index] === null) result[name] = null;
    return result;
  };
  Object.assign(query as DrizzleQuery, { customResultMapper: (rows: unknown[][]) => rows.map(mapRow) });
  return query;
}

/** Copies an object that has all members: to add them one by one takes longer, and much more memory. */
function mapMembers(columns: { path: string[]; index: number; decode: Decode }[]) {
  const members = columns.map(({ path, ...rest }) => ({ name: path.at(-1) as string, ...rest }));
  const empty: Record<string, unknown> = Object.fromEntries(members.map(({ name }) => [name, null]));
  return (row: unknown[]) => {
    const object = { ...empty };
    for (const { name, index, decode } of members)
      object[name] = row[index] === null || !decode ? row[index] : decode(row[index]);
    return object;
  };
}

/** No query of ours has these. */
function isOther({ path, field }: Field): boolean {
  return path.length > 2 || is(field, Subquery);
}

function decoderOf(field: Field["field"]): Decode {
  // The decoder is internal to drizzle's types.
  const decoder = is(field, Column)
    ? field
    : (("sql" in field ? field.sql : field) as unknown as { decoder: Column }).decoder;
  const isKept = [Column.prototype, noopDecoder].some(
    (each) => each.mapFromDriverValue === decoder.mapFromDriverValue,
  );
  return isKept ? undefined : (value) => decoder.mapFromDriverValue(value);
}

/** The objects of tables that a join may find no row of: as in drizzle, they are null if their first column is. */
function joinedObjects(fields: Field[], isThere: DrizzleQuery["joinsNotNullableMap"]) {
  if (!isThere) return [];
  const ofTables = fields.flatMap(({ path: [name = "", member], field }, index) =>
    member !== undefined && is(field, Column) ? [{ name, index, table: getTableName(field.table) }] : [],
  );
  return [...Map.groupBy(ofTables, ({ name }) => name).values()].flatMap(([first, ...others]) =>
    first && !isThere[first.table] && others.every(({ table }) => table === first.table) ? [first] : [],
  );
}
