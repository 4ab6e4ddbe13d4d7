import { excerpt } from "../refusal.ts";
import type { AuditChange } from "../vocabulary.ts";

/** Two states of a row, to be compared for an audit entry. */
export interface Compared<Row> {
  before: Row;
  after: Row;
  /** Columns whose values are kept. Lists and objects become text. */
  shown: readonly (keyof Row & string)[];
  /** Columns that are secret or long: the entry has their names only. */
  named?: readonly (keyof Row & string)[];
}

/** Names members as the REST API does. */
export function changesOf<Row extends object>({
  before,
  after,
  shown,
  named = [],
}: Compared<Row>): AuditChange[] {
  const isChanged = (column: keyof Row) => JSON.stringify(before[column]) !== JSON.stringify(after[column]);
  return [
    ...shown.filter(isChanged).map((column) => ({
      field: memberOf(column),
      before: toValue(before[column]),
      after: toValue(after[column]),
    })),
    ...named.filter(isChanged).map((column) => ({ field: memberOf(column) })),
  ];
}

/** `environmentSealed` → `environment`, `buildBranch` → `branch`, `deliveriesPerHour` → `deliveries_per_hour` */
function memberOf(column: string): string {
  const words = column.replace(/^build|Sealed$/g, "").match(/[A-Z]?[^A-Z]+/g) ?? [];
  return words.join("_").toLowerCase();
}

function toValue(value: unknown): string | number | boolean | null {
  if (value === null || value === undefined) return null;
  if (typeof value === "number" || typeof value === "boolean") return value;
  if (typeof value === "object" && !(value instanceof Date))
    return excerpt(
      Object.values(value)
        .filter((each) => each !== "")
        .join(", "),
    );
  return excerpt(String(value));
}
