import { minuteMs } from "../durations.ts";
import { ownerOfNetwork } from "./owner.ts";
import { rememberRecent } from "./recent.ts";
import { type CallerNetworks, type ResourceFull, type ShareBound, Shares } from "./shares.ts";
import { openTurns, type TurnBounds } from "./turns.ts";

export interface WaitingCaller extends CallerNetworks {
  /** The user that this browser has signed in as before. */
  knownUserId?: string | undefined;
}

export interface WaitingPlacesOptions {
  shares: { max: number; shares: readonly ShareBound[] };
  turns: TurnBounds;
  /** Additional places for known users, one each. */
  maxKept: number;
  /** Makes the error of a caller that gets no place, or loses its own. */
  refusalOf: (bound: ResourceFull) => Error;
}

const maxWrongNetworks = 10_000;
const wrongForMs = 10 * minuteMs;

interface Waiting {
  caller: WaitingCaller;
  leave: AbortController;
}

/**
 * Places in which callers wait for their turn. When all are taken, wide networks with wrong passwords of late give way
 * to those without: a newcomer displaces the newest that waits of the one that holds most places; of those that hold
 * equally many, of the one with most wrong passwords. Networks that are alike in this give way by the same order, and on
 * a tie the newcomer is refused.
 */
export class WaitingPlaces {
  readonly #options: WaitingPlacesOptions;
  readonly #places: Shares;
  readonly #turns: ReturnType<typeof openTurns>;
  /** Oldest first. Without kept places. */
  readonly #waiting = new Set<Waiting>();
  readonly #keptFor = new Set<string>();
  /** By wide network. */
  readonly #wrong = rememberRecent<number>(maxWrongNetworks, { ttl: wrongForMs });

  constructor(options: WaitingPlacesOptions) {
    this.#options = options;
    this.#places = new Shares(options.shares);
    this.#turns = openTurns(options.turns);
  }

  /** Runs the work in the caller's turn. @throws the error of `refusalOf` */
  run<Result>(caller: WaitingCaller, work: () => Promise<Result>): Promise<Result> {
    const { knownUserId } = caller;
    const isKept =
      knownUserId !== undefined &&
      this.#keptFor.size < this.#options.maxKept &&
      !this.#keptFor.has(knownUserId);
    return isKept ? this.#runKept(knownUserId, work) : this.#runWaiting(caller, work);
  }

  /** Counts a wrong password against the caller's wide network. */
  countWrong({ wideNetwork }: CallerNetworks): void {
    this.#wrong.set(wideNetwork, this.#wrongOf(wideNetwork) + 1);
  }

  async #runKept<Result>(userId: string, work: () => Promise<Result>): Promise<Result> {
    this.#keptFor.add(userId);
    try {
      // Its own turns: strangers may fill those of its network.
      return await this.#turns.take(ownerOfNetwork(`of ${userId}`), work);
    } finally {
      this.#keptFor.delete(userId);
    }
  }

  async #runWaiting<Result>(caller: WaitingCaller, work: () => Promise<Result>): Promise<Result> {
    this.#takePlace(caller);
    const waiting: Waiting = { caller, leave: new AbortController() };
    this.#waiting.add(waiting);
    const { signal } = waiting.leave;
    const start = () => {
      this.#waiting.delete(waiting);
      return work();
    };
    try {
      return await this.#turns.take(ownerOfNetwork(caller.wideNetwork), start, signal);
    } finally {
      if (!signal.aborted) this.#places.giveBack(caller); // a newcomer has the place of a displaced caller
    }
  }

  #takePlace(caller: WaitingCaller): void {
    let full = this.#places.take(caller);
    if (full?.bound === "all" && this.#displaceFor(caller)) full = this.#places.take(caller);
    if (full) throw this.#options.refusalOf(full.bound);
  }

  /** @returns false on a tie */
  #displaceFor(newcomer: WaitingCaller): boolean {
    let loser: Waiting | undefined;
    let rank = this.#rank(newcomer, 1);
    for (const waiting of this.#waiting) {
      const other = this.#rank(waiting.caller, 0);
      const isHigher = compareRanks(other, rank) > 0;
      if (!isHigher && !(loser && compareRanks(other, rank) === 0)) continue;
      loser = waiting; // the newest of those that rank highest
      rank = other;
    }
    if (!loser) return false;
    this.#waiting.delete(loser);
    this.#places.giveBack(loser.caller);
    loser.leave.abort(this.#options.refusalOf("all"));
    return true;
  }

  #rank({ wideNetwork }: WaitingCaller, more: 0 | 1): Rank {
    const wrong = this.#wrongOf(wideNetwork);
    return [Math.min(wrong, 1), this.#places.heldBy("wideNetwork", wideNetwork) + more, wrong];
  }

  #wrongOf(wideNetwork: string): number {
    return this.#wrong.get(wideNetwork) ?? 0;
  }
}

type Rank = [isWrong: number, places: number, wrong: number];

function compareRanks(rank: Rank, other: Rank): number {
  return rank[0] - other[0] || rank[1] - other[1] || rank[2] - other[2];
}
