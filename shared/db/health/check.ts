import { type Db, isMissingTable } from "../database.ts";
import { hasPendingMigrations } from "../migrate.ts";

export interface DatabaseState {
  database: "ok" | "unavailable";
  migrations: "ok" | "pending" | "unknown";
  /** Why it is unavailable. */
  fault?: unknown;
}

export async function checkDatabase(db: Db): Promise<DatabaseState> {
  try {
    const pending = await hasPendingMigrations(db);
    return { database: "ok", migrations: pending ? "pending" : "ok" };
  } catch (error) {
    return isMissingTable(error)
      ? { database: "ok", migrations: "pending" }
      : { database: "unavailable", migrations: "unknown", fault: error };
  }
}
