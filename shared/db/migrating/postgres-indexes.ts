import type { Client } from "pg";
import { secondMs } from "../../durations.ts";
import { findIndex } from "./catalog.ts";
import { tryAgain } from "./postgres-locks.ts";
import type { Report } from "./report.ts";

/**
 * Builds an index while others read and write. Keeps an existing index, and replaces one that was left unfinished. It
 * waits for all earlier transactions, which delays nobody.
 */
export async function buildIndex(
  client: Client,
  { name, text }: { name: string; text: string },
  report: Report,
): Promise<void> {
  await tryAgain(client, { tables: [], report }, async () => {
    const found = await findIndex(client, name);
    if (found?.isValid) return;
    if (found) await dropIndex(client, name);
    const startedAt = performance.now();
    await client.query(text.replace(/^CREATE (UNIQUE )?INDEX/, "CREATE $1INDEX CONCURRENTLY"));
    const seconds = (performance.now() - startedAt) / secondMs;
    if (seconds > 1) report(`  built ${name} in ${seconds.toFixed(1)} s`);
  });
}

/** Delays nobody. */
export async function dropIndex(client: Client, name: string): Promise<void> {
  await client.query(`DROP INDEX CONCURRENTLY IF EXISTS "${name}"`);
}
