import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type Client from "better-sqlite3";
import { type Tx, translateError } from "./database.ts";
import type { DatabaseOptions } from "./open.ts";
import { insideTransaction } from "./transaction-guard.ts";

export interface SqliteTransactions {
  /** All of the work or none of it. */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** Something that cannot be part of a transaction, while there is none. */
  between<T>(work: () => T): Promise<T>;
  /** When all that was asked for so far is done. */
  idle(): Promise<void>;
}

interface Waiting {
  work: (tx: Tx) => Promise<unknown>;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

/** Other processes wait for the lock meanwhile. */
const maxInOneCommit = 50;
/** How many turns of the event loop a group may grow, while more keep coming. */
const gatheringTurns = 4;

/**
 * One transaction after the other. Those that wait at the same time share one commit, which costs as much as a dozen
 * rows: each is a savepoint that fails by itself, and none is done before all are on disk. One alone waits for nobody.
 * A lock that another process holds is tried again from a timer, at random intervals, until `timeoutMs`.
 */
export function sqliteTransactions(
  writer: Client.Database,
  { tx, timeoutMs, onLockReleased }: { tx: Tx } & Pick<DatabaseOptions, "timeoutMs" | "onLockReleased">,
): SqliteTransactions {
  const statement = {
    begin: writer.prepare("BEGIN IMMEDIATE"),
    commit: writer.prepare("COMMIT"),
    rollback: writer.prepare("ROLLBACK"),
    savepoint: writer.prepare("SAVEPOINT work"),
    release: writer.prepare("RELEASE work"),
    undo: writer.prepare("ROLLBACK TO work"),
  };

  let last: Promise<unknown> = Promise.resolve();
  const oneAfterTheOther = <T>(work: () => Promise<T>): Promise<T> => {
    const result = last.then(work);
    // A transaction's own awaits are microtasks only: without a turn between them, timers and sockets starve.
    last = result.then(nextTurn, nextTurn);
    return result;
  };

  const runInSavepoint = async ({ work, resolve, reject }: Waiting): Promise<() => void> => {
    statement.savepoint.run();
    try {
      const value = await insideTransaction(() => work(tx));
      statement.release.run();
      return () => resolve(value);
    } catch (error) {
      if (!writer.inTransaction) throw error; // SQLite has undone everything: there is no room, for instance
      statement.undo.run();
      statement.release.run();
      return () => reject(translateError(error));
    }
  };

  const commitTogether = async (group: Waiting[]): Promise<void> => {
    const answers: (() => void)[] = [];
    let heldSince: number | undefined;
    try {
      await untilNotBusy(() => statement.begin.run(), timeoutMs);
      heldSince = performance.now();
      for (const each of group) answers.push(await runInSavepoint(each));
      statement.commit.run();
    } catch (error) {
      for (const { reject } of group) reject(translateError(error));
      if (writer.inTransaction) statement.rollback.run();
      return;
    } finally {
      if (heldSince !== undefined) onLockReleased?.((performance.now() - heldSince) / 1000);
    }
    for (const answer of answers) answer();
  };

  const waiting: Waiting[] = [];
  let isRunning = false;
  let running: Promise<void> = Promise.resolve();
  const gather = async () => {
    for (let turn = 0, before = 1; turn < gatheringTurns && waiting.length > before; turn++) {
      before = waiting.length;
      await nextTurn();
    }
  };
  const run = async () => {
    isRunning = true;
    while (waiting.length > 0) {
      await oneAfterTheOther(async () => {
        await gather();
        await commitTogether(waiting.splice(0, maxInOneCommit));
      });
    }
    isRunning = false;
  };

  return {
    transaction: <T>(work: (tx: Tx) => Promise<T>) =>
      new Promise<T>((resolve, reject) => {
        waiting.push({ work, resolve: resolve as Waiting["resolve"], reject });
        if (!isRunning) running = run();
      }),
    between: (work) => oneAfterTheOther(async () => work()),
    async idle() {
      await running;
      await last;
    },
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
