/** Tasks in the background. They handle their own failures. */
export class Tasks {
  readonly #running = new Set<Promise<void>>();
  readonly #closing = new AbortController();

  /** Aborted by `close`. */
  get signal(): AbortSignal {
    return this.#closing.signal;
  }

  add(task: Promise<void>): void {
    this.#running.add(task);
    void task.finally(() => this.#running.delete(task));
  }

  /** Resolves once nothing runs. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.idle();
  }
}

/** Tasks of which at most one of a key runs at a time. */
export interface TasksByKey {
  /** Starts the task of a key. If it runs already, it is repeated once it ends. */
  add(key: string): void;
  /** Resolves once nothing runs. */
  idle(): Promise<void>;
  /** Aborts the tasks and starts no further one. Resolves once they have ended. */
  close(): Promise<void>;
}

/** @param onFailure is not called for a task that was aborted */
export function openTasksByKey(
  run: (key: string, signal: AbortSignal) => Promise<void>,
  onFailure: (key: string, error: unknown) => void,
): TasksByKey {
  const tasks = new Tasks();
  const { signal } = tasks;
  /** By key: whether the task has to be repeated. */
  const running = new Map<string, boolean>();

  const runAll = async (key: string) => {
    do {
      running.set(key, false);
      await run(key, signal).catch((error) => {
        if (!signal.aborted) onFailure(key, error);
      });
    } while (running.get(key) && !signal.aborted);
    running.delete(key);
  };
  return {
    add(key) {
      if (running.has(key)) running.set(key, true);
      else if (!signal.aborted) tasks.add(runAll(key));
    },
    idle: () => tasks.idle(),
    close: () => tasks.close(),
  };
}
