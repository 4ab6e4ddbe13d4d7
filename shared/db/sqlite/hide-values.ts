/** Internal to drizzle's types. */
interface Dialect {
  escapeParam(index: number): string;
}

/**
 * Makes SQLite plan each statement once, by a plus sign before each value: the planner does not look behind it. Else it
 * plans a statement anew whenever a limit changes, or a value that a column is compared with
 * (https://sqlite.org/c3ref/prepare.html). For a read of few rows that takes ten times as long as the read.
 *
 * A partial index is used only if its condition is in the text of the statement.
 */
export function hideValues<Database extends object>(database: Database): Database {
  const { dialect } = database as { dialect?: Dialect };
  if (!dialect) throw new Error("drizzle keeps its dialect elsewhere.");
  dialect.escapeParam = () => "+?";
  return database;
}
