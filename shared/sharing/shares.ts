/** `owner`: one of the owners is at its bound. `all`: all owners together are. */
export type Full = "owner" | "all";

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

/** Holds an amount of a resource, for several owners at once. */
export interface Holder {
  readonly owners: Owners;
  held: number;
  /** No share of it is smaller. */
  readonly minShare?: number;
  /**
   * The weight of the reasons for which it gives way to a newcomer. That with most goes first; of equals, the newest. 0:
   * it stays. Absent: it always does.
   */
  reasonsToLeave?(newcomer: Owners): number;
  /** Called when it has lost all that it held. */
  leave?(): void;
}

/** Counts what is held of a resource: requests, connections, bytes. */
export class Shares {
  readonly #max: number;
  readonly #bounds: readonly ShareBound[];
  /** By owner. Only of owners that hold something. */
  readonly #held = new Map<string, number>();
  /** The holders that may give way, oldest first. */
  readonly #holders = new Set<Holder>();
  #total = 0;

  constructor({ max = Number.POSITIVE_INFINITY, shares }: { max?: number; shares: readonly ShareBound[] }) {
    this.#max = max;
    this.#bounds = shares;
  }

  get total(): number {
    return this.#total;
  }

  /** @returns the holder, who releases it, or the bound that is in the way */
  take(owners: Owners, amount = 1): Holder | Full {
    const holder = { owners, held: 0 };
    return this.grow(holder, amount) ?? holder;
  }

  /** Gives a holder more, if need be after others gave way. @returns the bound that is in the way */
  grow(holder: Holder, amount: number): Full | undefined {
    let full = this.#findFull(holder, amount);
    while (full && this.#makeRoom(holder, full.owner)) full = this.#findFull(holder, amount);
    if (full) return full.owner ? "owner" : "all";
    this.#count(holder, amount);
    return undefined;
  }

  /** Counts what is held already, after others gave way. */
  force(holder: Holder, amount: number): void {
    while (this.#total + amount > this.#max) if (!this.#makeRoom(holder)) break;
    this.#count(holder, amount);
  }

  /** Takes back all that it holds. */
  release(holder: Holder): void {
    this.#holders.delete(holder);
    this.#count(holder, -holder.held);
  }

  heldBy(kind: OwnerKind, owners: Owners): number {
    return this.#held.get(ownerOf(kind, owners) ?? "") ?? 0;
  }

  #findFull({ owners, minShare = 0 }: Holder, amount: number): { owner?: string } | undefined {
    const isOverHalf = this.#total + amount > this.#max / 2;
    for (const { kind, max, part = 0, bindsAlways } of this.#bounds) {
      const owner = ownerOf(kind, owners);
      if (owner === undefined || !(isOverHalf || bindsAlways)) continue;
      const share = Math.max(max ?? part * this.#max, minShare);
      if ((this.#held.get(owner) ?? 0) + amount > share) return { owner };
    }
    return this.#total + amount > this.#max ? {} : undefined;
  }

  /** @param owner the one who is at its bound. @returns false if nobody gives way */
  #makeRoom(newcomer: Holder, owner?: string): boolean {
    let loser: Holder | undefined;
    let most = 0;
    for (const holder of this.#holders) {
      const isInTheWay =
        owner === undefined || this.#bounds.some(({ kind }) => ownerOf(kind, holder.owners) === owner);
      if (holder === newcomer || !isInTheWay) continue;
      const reasons = holder.reasonsToLeave?.(newcomer.owners) ?? 0;
      if (reasons <= 0 || reasons < most) continue;
      loser = holder;
      most = reasons;
    }
    if (!loser) return false;
    this.release(loser); // first: its end may take a while
    loser.leave?.();
    return true;
  }

  #count(holder: Holder, amount: number): void {
    if (holder.reasonsToLeave && amount > 0) this.#holders.add(holder);
    holder.held += amount;
    this.#total += amount;
    for (const { kind } of this.#bounds) {
      const owner = ownerOf(kind, holder.owners);
      if (owner === undefined) continue;
      const present = (this.#held.get(owner) ?? 0) + amount;
      if (present === 0) this.#held.delete(owner);
      else this.#held.set(owner, present);
    }
  }
}

function ownerOf(kind: OwnerKind, owners: Owners): string | undefined {
  const id = owners[kind];
  return id === undefined ? undefined : `${kind} ${id}`;
}
