import { secondMs } from "../../../shared/durations.ts";
import { ownerOf, type ResourceFull, type ShareBound, Shares } from "../../../shared/sharing/shares.ts";
import type { Transfer } from "./transfer.ts";

export interface BudgetOptions {
  maxBytes: number;
  shares: readonly ShareBound[];
  minBytesPerSecond: number;
  /** A transfer that is slow for longer is cut. */
  graceMs: number;
}

const measureEveryMs = secondMs;

/** Limits the bytes of bodies in memory, and what each owner may use of them. Slow transfers lose first. */
export class TransferBudget {
  readonly #options: BudgetOptions;
  readonly #shares: Shares;
  readonly #transfers = new Set<Transfer>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: BudgetOptions) {
    this.#options = options;
    this.#shares = new Shares({ max: options.maxBytes, shares: options.shares });
  }

  get usedBytes(): number {
    return this.#shares.total;
  }

  /** Adds a body that came whole, which nobody can stall. Returns false without room. */
  take(bytes: number): boolean {
    while (this.#shares.take({}, bytes)) if (!this.#cutSlowest(() => true)) return false;
    return true;
  }

  giveBack(bytes: number): void {
    this.#shares.giveBack({}, bytes);
  }

  /** Adds bytes of a transfer. Returns the bound in the way, if there is no room. */
  grow(transfer: Transfer, bytes: number): ResourceFull | undefined {
    this.#enter(transfer);
    for (;;) {
      const full = this.#shares.take(transfer.owners, bytes, transfer.maxBytes);
      if (!full) break;
      const isInTheWay = ({ owners }: Transfer) =>
        this.#options.shares.some(({ kind }) => ownerOf(kind, owners) === full.owner);
      const isCandidate = full.bound === "all" ? () => true : isInTheWay;
      if (!this.#cutSlowest((other) => other !== transfer && isCandidate(other))) return full.bound;
    }
    transfer.bytes += bytes;
    return undefined;
  }

  /** Adds bytes that are in memory already, after slow transfers have lost. */
  force(transfer: Transfer, bytes: number): void {
    this.#enter(transfer);
    while (this.usedBytes + bytes > this.#options.maxBytes)
      if (!this.#cutSlowest((other) => other !== transfer)) break;
    this.#shares.force(transfer.owners, bytes);
    transfer.bytes += bytes;
  }

  /** Returns the bytes of a transfer. Does nothing the second time. */
  remove(transfer: Transfer): void {
    if (!this.#transfers.delete(transfer)) return;
    this.#shares.giveBack(transfer.owners, transfer.bytes);
  }

  /** Does nothing the second time. */
  #enter(transfer: Transfer): void {
    if (transfer.isCounted) return;
    transfer.isCounted = true;
    this.#transfers.add(transfer);
    this.#timer ??= setInterval(() => this.#measure(), measureEveryMs).unref();
  }

  /** Returns false if none of them is slow. */
  #cutSlowest(isCandidate: (transfer: Transfer) => boolean): boolean {
    const now = performance.now();
    let slowest: Transfer | undefined;
    let minSpeed = this.#options.minBytesPerSecond;
    for (const transfer of this.#transfers) {
      const speed = transfer.speed(now);
      if (speed >= minSpeed || !isCandidate(transfer)) continue;
      slowest = transfer;
      minSpeed = speed;
    }
    if (slowest) this.#cut(slowest);
    return slowest !== undefined;
  }

  #measure(): void {
    if (this.#transfers.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    const now = performance.now();
    const { minBytesPerSecond, graceMs } = this.#options;
    for (const transfer of this.#transfers)
      if (transfer.measure(now, minBytesPerSecond) >= graceMs) this.#cut(transfer);
  }

  /** Removes it first, so that room is made even if ending it takes a while. */
  #cut(transfer: Transfer): void {
    this.remove(transfer);
    transfer.cut();
  }
}
