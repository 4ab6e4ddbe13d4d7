import type { Clock } from "../process/clock.ts";
import type { Due } from "../process/due.ts";

export interface DatabaseOptions {
  /** `file:<path>` or `postgres://…`. */
  url: string;
  poolSize: number;
  clock?: Clock;
  /** The time that a write waits for a locked SQLite database. */
  timeoutMs: number;
  onError: (error: Error) => void;
  /** Receives the seconds for which a write locked SQLite, or its rows on Postgres. */
  onLockReleased?: (seconds: number) => void;
  /** Called after each committed write, and with each fault of the database that prevented one. */
  onWrite?: (fault?: Error) => void;
  /** Called after a commit with what its transaction has made due. */
  onDue?: (due: Due[]) => void;
  /** Called once when a sync of a SQLite file failed: the process has to end, so that the next one copies the file. */
  onSyncFailed?: (error: Error) => void;
  /** Called when a SQLite file was copied before it was opened, because a sync of it had failed. */
  onCopied?: () => void;
}
