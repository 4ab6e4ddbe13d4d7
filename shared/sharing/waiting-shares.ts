import { type Holder, type Owners, type ShareBound, Shares } from "./shares.ts";

/** Shares whose owners wait for room, in the order in which they came, as far as their bounds allow. */
export class WaitingShares {
  readonly #shares: Shares;
  /** Oldest first. Each takes its share if there is room. */
  readonly #waiting = new Set<() => void>();

  constructor(bounds: { max?: number; shares: readonly ShareBound[] }) {
    this.#shares = new Shares(bounds);
  }

  /** @returns undefined if there was no room for so long */
  async take(owners: Owners, amount: number, maxWaitMs: number): Promise<Holder | undefined> {
    const taken = this.#shares.take(owners, amount);
    if (typeof taken !== "string") return taken;
    return new Promise((resolve) => {
      const end = (holder?: Holder) => {
        clearTimeout(timer);
        this.#waiting.delete(look);
        resolve(holder);
      };
      const look = () => {
        const holder = this.#shares.take(owners, amount);
        if (typeof holder !== "string") end(holder);
      };
      const timer = setTimeout(end, maxWaitMs);
      this.#waiting.add(look);
    });
  }

  release(holder: Holder): void {
    this.#shares.release(holder);
    for (const look of [...this.#waiting]) look();
  }
}
