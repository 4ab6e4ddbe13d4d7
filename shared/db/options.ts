import type { Clock } from "../process/clock.ts";

/** Queries of an organization that wait for their turn. */
export const maxWaitingPerOwner = 500;

export interface DatabaseOptions {
  /** `file:<path>` or `postgres://…`. */
  url: string;
  poolSize: number;
  clock?: Clock;
  /** Wait of a write for a locked SQLite database. */
  timeoutMs: number;
  onError: (error: Error) => void;
  /** Gets the seconds that a write locked SQLite, or its rows on Postgres. */
  onLockReleased?: (seconds: number) => void;
  /** Gets each committed write, and each fault of the database that kept one from it. */
  onWrite?: (fault?: Error) => void;
  /** A sync of a SQLite file failed in this process, or was made good. */
  onSyncFailed?: (error: Error) => void;
  onSyncRepaired?: () => void;
}
