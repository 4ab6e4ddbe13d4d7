import { getTableColumns, getTableName } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { newId } from "../../../shared/ids.ts";

const startMs = Date.UTC(2026, 0, 1);
export interface Shared {
  organization: string;
  user: string;
  few: string[];
}

/** Values that many rows share, so that no index on them alone is enough. */
export const shared: Shared = {
  organization: "01900000-0000-7000-8000-000000000001",
  user: "01900000-0000-7000-8000-000000000002",
  few: Array.from({ length: 10 }, (_, index) => `01900000-0000-7000-8000-0000000001${10 + index}`),
};
const fewRowsOf = /^(subject|pipeline|trigger|cluster|queue|application|group)_id$/;
const keyedByUser = new Set(["members", "stars"]);
const rarelyNull = new Set(["delivery_id", "grant_id", "status", "finished_at", "expires_at"]);
const standings = ["waiting", "limited", "holding"];
const states = ["scheduled", "running", "passed", "failed", "canceled"];

const figureNames = ["deliveries_built", "deliveries_filtered", "deliveries_failed"];

const rowsAtOnce = 1000;

/** Inserts rows, each of them with a value a column. */
export type Insert = (table: string, columns: Column[], rows: unknown[][]) => Promise<void>;

/** Inserts rows with made-up values. Foreign keys must be off. */
export async function fill(
  insert: Insert,
  table: SQLiteTable,
  { amount, shared }: { amount: number; shared: Shared },
): Promise<void> {
  const columns = Object.values(getTableColumns(table));
  const name = getTableName(table);
  const isUnique = (column: Column) => column.name === "user_id" && keyedByUser.has(name);
  for (let from = 0; from < amount; from += rowsAtOnce) {
    const rows = Array.from({ length: rowsAtOnce }, (_, index) =>
      columns.map((column) =>
        isUnique(column) ? newId(new Date(startMs + index)) : makeValue(column, from + index, shared),
      ),
    );
    await insert(name, columns, rows);
  }
}

export type Column = ReturnType<typeof getTableColumns<SQLiteTable>>[string];

function makeValue({ name, dataType, notNull }: Column, index: number, shared: Shared): unknown {
  if (!notNull && (name === "deleted_at" || index % 100 < (rarelyNull.has(name) ? 1 : 95))) return null;
  if (dataType === "date") return new Date(startMs + index * 1000);
  if (name === "minutes") return index % 2 ? 60 : 1;
  if (name === "max_holders") return 1 + (Math.floor(index / 10) % 5);
  if (dataType === "number") return index;
  // A pipeline has one provider.
  if (name === "is_provider") return false;
  if (dataType === "boolean") return index % 10 === 0;
  if (dataType === "json") return [];
  if (name === "word") return `word ${index}`;
  if (dataType !== "string") return Buffer.from("{}");
  if (name === "id" || name === "position") return newId(new Date(startMs + index * 1000));
  // Half of the rows are of one organization, a few of one user.
  if (name === "organization_id" && index % 2 === 0) return shared.organization;
  if (/^(user|actor|creator|.*_by)_id$/.test(name) && index % 2000 === 0) return shared.user;
  if (fewRowsOf.test(name)) return shared.few[index % 10];
  if (name.endsWith("_id") && !name.startsWith("external")) return newId(new Date(startMs + index * 1000));
  if (name === "kind" && index % 2 === 0) return "word";
  if (name === "figure") return figureNames[index % 3];
  if (name === "role") return index % 10 === 0 ? "admin" : "member";
  if (name === "standing") return standings[Math.floor(index / 10) % 3];
  if (name === "state") return states[index % 5];
  if (name === "branch" || name === "commit") return index % 100 === 0 ? "rare" : "main";
  return `${name} ${index}`;
}
