import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import { minuteMs, secondMs } from "../../durations.ts";
import { rootCause } from "../database.ts";
import { MigrationFailed } from "./failed.ts";
import type { Report } from "./target.ts";

/**
 * Other queries wait behind a lock that waits. The wait ends before their `statement_timeout`, and before Postgres
 * looks for deadlocks (`deadlock_timeout`, a second), so it never ends a transaction of the application.
 */
const lockBudgetMs = 500;
/** Beyond `deadlock_timeout`, after which Postgres cancels an automatic vacuum that others wait for. */
const vacuumBudgetMs = 10 * secondMs;
const maxRestMs = 3 * secondMs;
const patienceMs = 5 * minuteMs;
/** Lock not available, deadlock, serialization failure. */
const retryableCodes = new Set(["55P03", "40P01", "40001"]);

interface Locking {
  /** The tables that the transaction changes. */
  tables: string[];
  report: Report;
  patience?: number;
}

/** Runs a transaction that waits for each lock for a moment only. Tries again while others have them. */
export async function withShortLocks(
  client: Client,
  locking: Locking,
  work: () => Promise<void>,
): Promise<void> {
  await tryAgain(client, locking, async () => {
    await client.query("BEGIN");
    // Waits for vacuums, which may take hours, by a lock that delays no read and no write.
    await client.query(`SET LOCAL lock_timeout = ${vacuumBudgetMs}`);
    for (const table of locking.tables)
      await client.query(`LOCK TABLE "${table}" IN SHARE UPDATE EXCLUSIVE MODE`);
    await client.query(`SET LOCAL lock_timeout = ${lockBudgetMs}`);
    await work();
    await client.query("COMMIT");
  });
}

/** Runs `work` again after a lost race for a lock, with random rests between. */
export async function tryAgain(
  client: Client,
  { tables, report, patience = patienceMs }: Locking,
  work: () => Promise<void>,
): Promise<void> {
  const deadline = performance.now() + patience;
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      await client.query("ROLLBACK").catch(() => {});
      if (!retryableCodes.has((rootCause(error) as { code?: string })?.code ?? "")) throw error;
      const inUse = `${tables.join(", ")}: in use by ${await describeUsers(client, tables)}`;
      if (performance.now() > deadline)
        throw new MigrationFailed(
          `${inUse}, in all of ${tries} tries. End that, then run it again: it goes on where it stopped.`,
          { cause: error },
        );
      report(`  ${inUse}; trying again`);
      await sleep((0.5 + Math.random()) * Math.min(100 * 2 ** tries, maxRestMs));
    }
  }
}

/** Names the owners of the oldest locks of these tables. Of another user's process, it may know the number only. */
async function describeUsers(client: Client, tables: string[]): Promise<string> {
  const { rows } = await client.query<{ pid: number; details: string }>(
    `SELECT activity.pid, coalesce(coalesce(nullif(application_name, ''), backend_type) || ', ' || state || ', for ' ||
       round(extract(epoch FROM clock_timestamp() - xact_start))::int || ' s', 'of another user') AS details
     FROM pg_stat_activity AS activity
     WHERE pid <> pg_backend_pid() AND pid IN (SELECT pid FROM pg_locks
       WHERE granted AND relation IN (SELECT to_regclass(quote_ident(name)) FROM unnest($1::text[]) AS name))
     ORDER BY xact_start LIMIT 2`,
    [tables],
  );
  const users = rows.map(({ pid, details }) => `process ${pid} (${details})`);
  return users.join(" and ") || "transactions that have ended since";
}
