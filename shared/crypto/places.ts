import { Refusal, unavailable } from "../refusal.ts";

/** The networks of a caller, as texts. A wide network contains others. */
export interface CallerNetworks {
  network: string;
  wideNetwork: string;
}

export interface PlaceBounds {
  max: number;
  /** These bind while more than half of all places are taken: callers behind one proxy may be many. */
  maxPerNetwork: number;
  maxPerWideNetwork: number;
}

const retryAfterSeconds = 5;

/** Places for costly work. No network can take them all. */
export class Places {
  readonly #bounds: PlaceBounds;
  readonly #takenBy = new Map<string, number>();
  #taken = 0;

  constructor(bounds: PlaceBounds) {
    this.#bounds = bounds;
  }

  /**
   * Does the work in a place.
   * @throws Refusal 429 if the caller's networks have their share, which is the caller's fault; 503 if all are taken
   */
  async use<T>({ network, wideNetwork }: CallerNetworks, work: () => Promise<T>): Promise<T> {
    const { max, maxPerNetwork, maxPerWideNetwork } = this.#bounds;
    const keys = [network, `wide ${wideNetwork}`] as const;
    const isScarce = this.#taken >= max / 2;
    const hasShare = this.#isTaken(keys[0], maxPerNetwork) || this.#isTaken(keys[1], maxPerWideNetwork);
    if (isScarce && hasShare) throw shareTaken();
    if (this.#taken >= max) throw unavailable(retryAfterSeconds);

    this.#change(keys, 1);
    try {
      return await work();
    } finally {
      this.#change(keys, -1);
    }
  }

  #isTaken(key: string, share: number): boolean {
    return (this.#takenBy.get(key) ?? 0) >= share;
  }

  #change(keys: readonly string[], by: 1 | -1): void {
    this.#taken += by;
    for (const key of keys) {
      const taken = (this.#takenBy.get(key) ?? 0) + by;
      if (taken === 0) this.#takenBy.delete(key);
      else this.#takenBy.set(key, taken);
    }
  }
}

function shareTaken(): Refusal {
  const message = `Your network sends too many passwords at once. Please wait ${retryAfterSeconds} seconds, then try again.`;
  return new Refusal(429, message, { headers: { "Retry-After": String(retryAfterSeconds) } });
}
