import type Client from "better-sqlite3";
import { isFailedSync, openSyncMark } from "./sync-mark.ts";

const abandoned: Client.Database[] = [];

/**
 * Leaves connections open until the process has ended. SQLite copies the log into the database when the last one closes;
 * after a failed sync the log on disk may have holes, and must not be copied. The next start copies the whole database.
 */
export function abandon(...clients: Client.Database[]): void {
  // Node would close them at its exit, so the process ends by force.
  if (abandoned.length === 0) process.once("exit", () => process.exit());
  abandoned.push(...clients);
}

/**
 * Closes a connection of a program that opened the file by itself, as far as it may be closed.
 * @param error of what the program did with it
 */
export function closeOrAbandon(client: Client.Database, file: string, error?: unknown): void {
  const mark = openSyncMark(file);
  if (isFailedSync(error)) mark.set();
  const isMarked = mark.isSet();
  mark.close();
  if (isMarked) abandon(client);
  else client.close();
}
