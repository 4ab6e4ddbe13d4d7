import type { Clock } from "../runtime/clock.ts";

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
}
