import { secondMs } from "../../../shared/durations.ts";
import type { Owners } from "../../../shared/sharing/shares.ts";

/** A transfer may pause for a second before it counts as slow. */
const minSlowMs = secondMs;

export interface Cuttable {
  /** Ends a slow transfer. */
  cut(): void;
}

/** A body that comes in or goes out. Its speed counts from its mark, so that a fast start does not excuse a stall. */
export class Transfer {
  readonly owners: Owners;
  /** Each owner may always have one transfer of this size. */
  readonly maxBytes: number;
  readonly #cuttable: Cuttable;
  /** Bytes of the transfer in memory. */
  bytes = 0;
  /** A budget has counted it once. */
  isCounted = false;
  /** Undefined while the other side has nothing to do. */
  #markedAt: number | undefined;
  #movedSinceMark = 0;

  constructor(options: { owners: Owners; maxBytes: number; cuttable: Cuttable }) {
    this.owners = options.owners;
    this.maxBytes = options.maxBytes;
    this.#cuttable = options.cuttable;
  }

  cut(): void {
    this.#cuttable.cut();
  }

  /** Starts the measurement of speed: the other side has to read or send now. */
  start(): void {
    this.#markedAt = performance.now();
    this.#movedSinceMark = 0;
  }

  move(bytes: number): void {
    this.#movedSinceMark += bytes;
  }

  stop(): void {
    this.#markedAt = undefined;
  }

  /** Bytes a second since the mark; infinite if it has just begun or is not moving. */
  speed(now: number): number {
    const ms = this.#markedAt === undefined ? 0 : now - this.#markedAt;
    return ms < minSlowMs ? Number.POSITIVE_INFINITY : (this.#movedSinceMark * secondMs) / ms;
  }

  /** Sets a new mark if it has been fast enough since the last. @returns the milliseconds that it has been slow */
  measure(now: number, minBytesPerSecond: number): number {
    const speed = this.speed(now);
    if (speed === Number.POSITIVE_INFINITY || this.#markedAt === undefined) return 0;
    if (speed < minBytesPerSecond) return now - this.#markedAt;
    this.#markedAt = now;
    this.#movedSinceMark = 0;
    return 0;
  }
}
