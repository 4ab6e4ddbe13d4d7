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
  /** A sync of a SQLite file failed in this process, or was made good. */
  onSyncFailed?: (error: Error) => void;
  onSyncRepaired?: () => void;
}
