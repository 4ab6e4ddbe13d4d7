/** Internal to drizzle's types. */
interface Dialect {
  escapeParam(index: number): string;
}

/**
 * Makes SQLite plan each statement once. It would plan it anew for all values that a plan may depend on: those that
 * columns are compared with, and limits (https://sqlite.org/c3ref/prepare.html). For a read of few rows that takes ten
 * times as long as the read. The planner does not look behind a sign.
 *
 * So a partial index needs its condition in the text of the statement.
 */
export function hideValues<Database extends object>(database: Database): Database {
  const { dialect } = database as { dialect?: Dialect };
  if (!dialect) throw new Error("drizzle keeps its dialect elsewhere.");
  dialect.escapeParam = () => "+?";
  return database;
}
