import type Client from "better-sqlite3";
import { Refusal } from "../../refusal.ts";
import { latestMigration } from "../migrate.ts";
import { migrationsTable } from "../migrating/migrations.ts";

/**
 * Checks a file by reading all of it. @throws Refusal unless it is a database of this program, of this version or an
 * older one, and undamaged
 */
export function requireSound(client: Client.Database, file: string): void {
  const [problem] = client.pragma("integrity_check(1)") as { integrity_check: string }[];
  if (problem?.integrity_check !== "ok")
    throw new Refusal(422, `${file} is damaged: ${problem?.integrity_check.replaceAll("\n", " ")}`);
  const orphans = client.pragma("foreign_key_check") as unknown[];
  if (orphans.length > 0) throw new Refusal(422, `${file} is damaged: rows without their parent`);

  const applied = listApplied(client);
  if (applied.length === 0) throw new Refusal(422, `${file} is not a database of this program`);
  if (Math.max(...applied) > latestMigration("sqlite"))
    throw new Refusal(422, `${file} is of a newer version of this program: use that version`);
}

function listApplied(client: Client.Database): number[] {
  try {
    const rows = client.prepare(`SELECT created_at FROM ${migrationsTable}`).all();
    return (rows as { created_at: number }[]).map((row) => Number(row.created_at));
  } catch {
    return [];
  }
}
