import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type Client from "better-sqlite3";
import { secondMs } from "../../durations.ts";
import { openGatherer, whileGrowing } from "../../sharing/gatherer.ts";
import { DatabaseUnavailable, rootCause, type Tx, translateError } from "../database.ts";
import type { DatabaseOptions } from "../options.ts";
import { insideTransaction } from "../transaction-guard.ts";
import { isFailedSync } from "./sync-mark.ts";

export interface SqliteTransactions {
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** Runs work that cannot be part of a transaction. */
  between<T>(work: () => T): Promise<T>;
  /** Resolves when no transaction waits or runs. */
  idle(): Promise<void>;
}

type Work = (tx: Tx) => Promise<unknown>;
type Outcome = () => unknown;

interface BatchResult {
  outcomes: Outcome[];
  hasWritten: boolean;
  /** The fault of the database that failed one or all of the batch. */
  fault?: DatabaseUnavailable | undefined;
}

interface Options extends Pick<DatabaseOptions, "timeoutMs" | "onLockReleased" | "onWrite" | "onDue"> {
  tx: Tx;
  /** Undefined, unless the next transaction has to wait. @throws DatabaseUnavailable */
  untilReady: () => Promise<void> | undefined;
  sync: () => Promise<void>;
  onSyncFailed: (error: Error) => void;
  onCommitted: () => void;
  onDiskFull: () => void;
}

/** Other processes wait during a commit. */
const maxBatch = 50;

/**
 * Runs one transaction at a time. Waiting ones share a commit: each is a savepoint that fails alone, and none resolves
 * before all are on disk. While another process has the lock, it retries at random
 * intervals until `timeoutMs`.
 */
export function sqliteTransactions(
  writer: Client.Database,
  {
    tx,
    untilReady,
    sync,
    onSyncFailed,
    onCommitted,
    onDiskFull,
    timeoutMs,
    onLockReleased,
    onWrite,
    onDue,
  }: Options,
): SqliteTransactions {
  const statement = {
    begin: writer.prepare("BEGIN IMMEDIATE"),
    commit: writer.prepare("COMMIT"),
    rollback: writer.prepare("ROLLBACK"),
    savepoint: writer.prepare("SAVEPOINT work"),
    release: writer.prepare("RELEASE work"),
    undo: writer.prepare("ROLLBACK TO work"),
    countChanges: writer.prepare("SELECT total_changes()").pluck(),
  };

  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const result = last.then(work);
    // A transaction awaits microtasks only: without this turn, timers and sockets starve.
    last = result.then(nextTurn, nextTurn);
    return result;
  };

  const run = async (work: Work): Promise<Outcome> => {
    const { result, due } = await insideTransaction(() => work(tx));
    return () => {
      if (due.length > 0) onDue?.(due);
      return result;
    };
  };

  const runInSavepoint = async (work: Work): Promise<Outcome> => {
    statement.savepoint.run();
    try {
      const outcome = await run(work);
      statement.release.run();
      return outcome;
    } catch (error) {
      if (!writer.inTransaction) throw error; // SQLite rolled back, for example on a full disk
      statement.undo.run();
      statement.release.run();
      return failure(error);
    }
  };

  const commitTogether = async (batch: Work[]): Promise<BatchResult> => {
    const outcomes: Outcome[] = [];
    let lockedAt: number | undefined;
    try {
      await untilNotBusy(() => statement.begin.run(), timeoutMs);
      lockedAt = performance.now();
      const before = statement.countChanges.get();
      const [first, second] = batch;
      // A lone transaction needs no savepoint: if it fails, all is rolled back.
      if (first && !second) outcomes.push(await run(first));
      else for (const work of batch) outcomes.push(await runInSavepoint(work));
      statement.commit.run();
      return { outcomes, hasWritten: statement.countChanges.get() !== before };
    } catch (error) {
      if (isFailedSync(error)) onSyncFailed(error as Error);
      if ((rootCause(error) as { code?: unknown } | undefined)?.code === "SQLITE_FULL") onDiskFull();
      if (writer.inTransaction) statement.rollback.run();
      const translated = translateError(error);
      const fault = translated instanceof DatabaseUnavailable ? translated : undefined;
      return { outcomes: batch.map(() => failure(error)), hasWritten: false, fault };
    } finally {
      if (lockedAt !== undefined) onLockReleased?.((performance.now() - lockedAt) / secondMs);
    }
  };

  const commitAndSync = async (batch: Work[]): Promise<BatchResult> => {
    const wait = untilReady();
    if (wait) await wait;
    const result = await inTurn(() => commitTogether(batch));
    await sync();
    return result;
  };

  const gatherer = openGatherer<Work, Outcome>({
    async flush(batch) {
      try {
        const { outcomes, hasWritten, fault } = await commitAndSync(batch);
        if (fault || hasWritten) onWrite?.(fault);
        onCommitted();
        return outcomes;
      } catch (error) {
        onWrite?.(error as Error);
        throw error;
      }
    },
    async when(countWaiting) {
      await last;
      await whileGrowing(countWaiting, 1);
    },
    maxItems: maxBatch,
  });

  return {
    transaction: async <T>(work: (tx: Tx) => Promise<T>) => (await gatherer.add(work))() as T,
    async between(work) {
      await untilReady();
      return inTurn(async () => work());
    },
    async idle() {
      await gatherer.flush();
      await last;
    },
  };
}

function failure(error: unknown): Outcome {
  const translated = translateError(error);
  return () => {
    throw translated;
  };
}

async function untilNotBusy(begin: () => void, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (let tries = 1; ; tries++) {
    try {
      return begin();
    } catch (error) {
      const failure = translateError(error);
      const isBusy = (error as { code?: string }).code?.startsWith("SQLITE_BUSY");
      if (!isBusy || performance.now() > deadline) throw failure;
      await sleep((1 + Math.random()) * Math.min(tries, 5));
    }
  }
}
