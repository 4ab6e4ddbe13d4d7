/** The networks of a caller, as texts. A wide network contains others. */
export interface CallerNetworks {
  network: string;
  wideNetwork: string;
}

export interface PlaceBounds {
  max: number;
  /** The limits of one network apply once half of all places are taken: many callers may share a proxy. */
  maxPerNetwork: number;
  maxPerWideNetwork: number;
}

/** `share`: the caller's networks have their share. `full`: all places are taken. */
export type NoPlace = "share" | "full";

/** Places for something costly. No network can take them all. */
export class Places {
  readonly #bounds: PlaceBounds;
  readonly #takenBy = new Map<string, number>();
  #taken = 0;

  constructor(bounds: PlaceBounds) {
    this.#bounds = bounds;
  }

  /** Takes a place, which the caller gives back. Returns the reason if there is none. */
  take(caller: CallerNetworks): NoPlace | undefined {
    const { max, maxPerNetwork, maxPerWideNetwork } = this.#bounds;
    const [network, wideNetwork] = keysOf(caller);
    const isScarce = this.#taken >= max / 2;
    const hasShare = this.#count(network) >= maxPerNetwork || this.#count(wideNetwork) >= maxPerWideNetwork;
    if (isScarce && hasShare) return "share";
    if (this.#taken >= max) return "full";
    this.#change(caller, 1);
    return undefined;
  }

  giveBack(caller: CallerNetworks): void {
    this.#change(caller, -1);
  }

  takenByWide(wideNetwork: string): number {
    return this.#count(wideKey(wideNetwork));
  }

  #count(key: string): number {
    return this.#takenBy.get(key) ?? 0;
  }

  #change(caller: CallerNetworks, by: 1 | -1): void {
    this.#taken += by;
    for (const key of keysOf(caller)) {
      const taken = this.#count(key) + by;
      if (taken === 0) this.#takenBy.delete(key);
      else this.#takenBy.set(key, taken);
    }
  }
}

function keysOf({ network, wideNetwork }: CallerNetworks): [network: string, wideNetwork: string] {
  return [network, wideKey(wideNetwork)];
}

function wideKey(wideNetwork: string): string {
  return `wide ${wideNetwork}`;
}
