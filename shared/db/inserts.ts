import { getTableColumns, getTableName, type Table } from "drizzle-orm";

/** Makes statements and values to insert whole rows. Drizzle takes many times as long. */
export class Inserts {
  readonly #columns: ReturnType<typeof columnsOf>;
  readonly #start: string;
  readonly #mark: (number: number) => string;
  readonly #end: string;
  readonly #texts = new Map<number, string>();

  /**
   * @param mark returns the placeholder of a value, numbered from 1
   * @param onConflict the end of the statement
   */
  constructor(table: Table, mark: (number: number) => string, onConflict = "") {
    this.#columns = columnsOf(table);
    const names = this.#columns.map(([, column]) => `"${column.name}"`).join(", ");
    this.#start = `insert into "${getTableName(table)}" (${names}) values `;
    this.#end = onConflict && ` ${onConflict}`;
    this.#mark = mark;
  }

  text(rowCount: number): string {
    const known = this.#texts.get(rowCount);
    if (known) return known;
    let number = 0;
    const marksOfRow = () => `(${this.#columns.map(() => this.#mark(++number)).join(", ")})`;
    const text = this.#start + Array.from({ length: rowCount }, marksOfRow).join(", ") + this.#end;
    this.#texts.set(rowCount, text);
    return text;
  }

  /** Values of all rows, one after the other. */
  values(rows: readonly Record<string, unknown>[]): unknown[] {
    const values: unknown[] = [];
    for (const row of rows) {
      for (const [key, column] of this.#columns) {
        const value = row[key];
        values.push(value == null ? null : column.mapToDriverValue(value));
      }
    }
    return values;
  }
}

function columnsOf(table: Table) {
  return Object.entries(getTableColumns(table));
}
