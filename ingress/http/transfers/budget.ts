import { secondMs } from "../../../shared/durations.ts";
import type { Account, Owner } from "./owners.ts";
import type { Transfer } from "./transfer.ts";

export interface BudgetOptions {
  maxBytes: number;
  minBytesPerSecond: number;
  /** A transfer that is slow for longer is cut. */
  graceMs: number;
}

/** `share`: an owner has its share already. `full`: nobody has room. */
export type NoRoom = "share" | "full";

const measureEveryMs = secondMs;

/**
 * Limits the bytes of bodies in memory, and what each owner may use of them. Most shares bind only while over half is
 * used, because a single proxy may bring all callers. Slow transfers lose first.
 */
export class TransferBudget {
  readonly #options: BudgetOptions;
  readonly #transfers = new Set<Transfer>();
  /** Has only owners with transfers. */
  readonly #accounts = new Map<string, Account>();
  #used = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: BudgetOptions) {
    this.#options = options;
  }

  get usedBytes(): number {
    return this.#used;
  }

  /** Adds a body that came whole, which nobody can stall. Returns false without room. */
  take(bytes: number): boolean {
    if (this.#used + bytes > this.#options.maxBytes && !this.#makeRoom(bytes)) return false;
    this.#used += bytes;
    return true;
  }

  giveBack(bytes: number): void {
    this.#used -= bytes;
  }

  /** Adds bytes of a transfer, if there is room. */
  grow(transfer: Transfer, bytes: number): NoRoom | undefined {
    this.#enter(transfer);
    if (!this.#makeRoomInShares(transfer, bytes)) return "share";
    if (this.#used + bytes > this.#options.maxBytes && !this.#makeRoom(bytes, transfer)) return "full";
    this.#change(transfer, bytes);
    return undefined;
  }

  /** Adds bytes that are in memory already, after slow transfers have lost. */
  force(transfer: Transfer, bytes: number): void {
    this.#enter(transfer);
    if (this.#used + bytes > this.#options.maxBytes) this.#makeRoom(bytes, transfer);
    this.#change(transfer, bytes);
  }

  /** Returns the bytes of a transfer. Does nothing the second time. */
  remove(transfer: Transfer): void {
    if (!this.#transfers.delete(transfer)) return;
    this.#change(transfer, -transfer.bytes);
    for (const account of transfer.accounts)
      if (--account.transfers === 0) this.#accounts.delete(account.owner.key);
  }

  /** Does nothing the second time. */
  #enter(transfer: Transfer): void {
    if (transfer.accounts.length > 0) return;
    this.#transfers.add(transfer);
    transfer.accounts = transfer.owners.map((owner) => this.#openAccount(owner));
    this.#timer ??= setInterval(() => this.#measure(), measureEveryMs).unref();
  }

  #openAccount(owner: Owner): Account {
    const account = this.#accounts.get(owner.key) ?? { owner, bytes: 0, transfers: 0 };
    account.transfers++;
    this.#accounts.set(owner.key, account);
    return account;
  }

  #change(transfer: Transfer, bytes: number): void {
    this.#used += bytes;
    transfer.bytes += bytes;
    for (const account of transfer.accounts) account.bytes += bytes;
  }

  #makeRoomInShares(transfer: Transfer, bytes: number): boolean {
    const { maxBytes } = this.#options;
    const isOverHalf = this.#used + bytes > maxBytes / 2;
    for (const account of transfer.accounts) {
      const { share, bindsAlways } = account.owner;
      if (!isOverHalf && !bindsAlways) continue;
      const max = Math.max(share * maxBytes, transfer.maxBytes);
      while (account.bytes + bytes > max)
        if (!this.#cutSlowest((other) => other !== transfer && other.accounts.includes(account)))
          return false;
    }
    return true;
  }

  #makeRoom(bytes: number, transfer?: Transfer): boolean {
    while (this.#used + bytes > this.#options.maxBytes)
      if (!this.#cutSlowest((other) => other !== transfer)) return false;
    return true;
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
