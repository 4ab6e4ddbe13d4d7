/** `owner`: this owner is at its bound. `all`: all owners together are. */
export type ResourceFull = "owner" | "all";

/** The kinds of owners that hold a share of something. */
export type OwnerKind =
  | "network"
  | "wideNetwork"
  | "organization"
  | "trigger"
  | "user"
  | "session"
  | "holder"
  | "build";
export type Owners = Partial<Record<OwnerKind, string>>;

/** The networks of a caller, as texts. A wide network contains others. */
export interface CallerNetworks {
  network: string;
  wideNetwork: string;
}

/** A share is a number, or a part of the resource. */
export interface ShareBound {
  kind: OwnerKind;
  max?: number;
  part?: number;
  /** Otherwise it binds only while over half of the resource is held: a single proxy may bring all callers. */
  bindsAlways?: true;
}

/** The bound that a caller meets; the owner, if it is one's share. */
export interface Full {
  bound: ResourceFull;
  owner?: string;
}

/** Counts what is held of a resource: requests, connections, bytes. One thing may be held by several owners at once. */
export class Shares {
  readonly #max: number;
  readonly #shares: readonly ShareBound[];
  /** By owner. Only of owners that hold something. */
  readonly #held = new Map<string, number>();
  #total = 0;

  constructor({ max, shares }: { max: number; shares: readonly ShareBound[] }) {
    this.#max = max;
    this.#shares = shares;
  }

  get total(): number {
    return this.#total;
  }

  /**
   * Takes an amount, which the caller gives back. Returns the bound that is in the way.
   * @param minShare no share is smaller
   */
  take(owners: Owners, amount = 1, minShare = 0): Full | undefined {
    const full = this.findFull(owners, amount, minShare);
    if (!full) this.force(owners, amount);
    return full;
  }

  /** Returns the bound that an amount would meet, and takes nothing. */
  findFull(owners: Owners, amount = 1, minShare = 0): Full | undefined {
    const isOverHalf = this.#total + amount > this.#max / 2;
    for (const { kind, max, part = 0, bindsAlways } of this.#shares) {
      const owner = ownerOf(kind, owners);
      if (owner === undefined || !(isOverHalf || bindsAlways)) continue;
      const share = Math.max(max ?? part * this.#max, minShare);
      if (this.#heldBy(owner) + amount > share) return { bound: "owner", owner };
    }
    return this.#total + amount > this.#max ? { bound: "all" } : undefined;
  }

  /** Takes an amount that is held already, whatever the bounds. */
  force(owners: Owners, amount: number): void {
    this.#total += amount;
    for (const { kind } of this.#shares) {
      const owner = ownerOf(kind, owners);
      if (owner === undefined) continue;
      const present = this.#heldBy(owner) + amount;
      if (present === 0) this.#held.delete(owner);
      else this.#held.set(owner, present);
    }
  }

  giveBack(owners: Owners, amount = 1): void {
    this.force(owners, -amount);
  }

  heldBy(kind: OwnerKind, id: string): number {
    return this.#heldBy(`${kind} ${id}`);
  }

  #heldBy(owner: string): number {
    return this.#held.get(owner) ?? 0;
  }
}

/** As `Full` names the owner of this kind. */
export function ownerOf(kind: OwnerKind, owners: Owners): string | undefined {
  const id = owners[kind];
  return id === undefined ? undefined : `${kind} ${id}`;
}
