import { percentile } from "../statistics.ts";
import type { LoadResult } from "./load.ts";

export class Answers {
  readonly #startedAt = performance.now();
  #lastAt = this.#startedAt;
  readonly #times: number[] = [];
  readonly #refused: Record<string, number> = {};

  /** Good means 2xx. */
  add(status: number, ms: number): void {
    if (status >= 200 && status < 300) this.accept(ms);
    else this.refuse(String(status));
  }

  accept(ms: number): void {
    this.#lastAt = performance.now();
    this.#times.push(ms);
  }

  /** @param kind of the answer; there are few */
  refuse(kind: string): void {
    this.#lastAt = performance.now();
    this.#refused[kind] = (this.#refused[kind] ?? 0) + 1;
  }

  result(errors: number): LoadResult {
    const seconds = (this.#lastAt - this.#startedAt) / 1000;
    const sorted = Float64Array.from(this.#times).sort();
    return {
      accepted: sorted.length,
      perSecond: sorted.length / seconds,
      p50: percentile(sorted, 0.5),
      p99: percentile(sorted, 0.99),
      refused: this.#refused,
      errors,
    };
  }
}
