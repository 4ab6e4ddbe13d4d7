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
