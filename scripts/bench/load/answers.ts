import { percentile } from "../statistics.ts";
import type { LoadResult } from "./load.ts";

/** Collects what comes back; only answers of the 200s count. */
export class Answers {
  readonly #startedAt = performance.now();
  #lastAt = this.#startedAt;
  readonly #times: number[] = [];
  readonly #refused: Record<string, number> = {};

  add(status: number, ms: number): void {
    this.#lastAt = performance.now();
    if (status >= 200 && status < 300) this.#times.push(ms);
    else this.#refused[status] = (this.#refused[status] ?? 0) + 1;
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
