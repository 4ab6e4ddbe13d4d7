/** Runs in the background, at most one of a key at a time. */
export interface RunsByKey {
  /** Starts the run of a key. If it runs already, it is repeated once it ends. */
  add(key: string): void;
  /** Resolves once nothing runs. */
  idle(): Promise<void>;
  /** Aborts the runs and starts no further one. Resolves once they have ended. */
  close(): Promise<void>;
}

/** @param onFailure is not called for a run that was aborted */
export function openRunsByKey(
  runOnce: (key: string, signal: AbortSignal) => Promise<void>,
  onFailure: (key: string, error: unknown) => void,
): RunsByKey {
  const running = new Map<string, { task: Promise<void>; isAskedAgain: boolean }>();
  const closing = new AbortController();

  const run = async (key: string) => {
    try {
      await runOnce(key, closing.signal);
    } catch (error) {
      if (!closing.signal.aborted) onFailure(key, error);
    }
    const isAskedAgain = running.get(key)?.isAskedAgain;
    running.delete(key);
    if (isAskedAgain) start(key);
  };
  const start = (key: string) => {
    if (!closing.signal.aborted) running.set(key, { task: run(key), isAskedAgain: false });
  };
  const idle = async () => {
    while (running.size > 0) await Promise.all([...running.values()].map(({ task }) => task));
  };

  return {
    add(key) {
      const present = running.get(key);
      if (present) present.isAskedAgain = true;
      else start(key);
    },
    idle,
    async close() {
      closing.abort();
      await idle();
    },
  };
}
