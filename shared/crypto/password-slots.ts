import { minuteMs } from "../durations.ts";
import { resources, shares } from "../sharing/bounds.ts";
import { ownerOfNetwork } from "../sharing/owner.ts";
import { rememberRecent } from "../sharing/recent.ts";
import { type CallerNetworks, type Full, type Holder, type Owners, Shares } from "../sharing/shares.ts";
import { openTurns, type TurnBounds } from "../sharing/turns.ts";

export interface PasswordCaller extends CallerNetworks {
  /** The user that this browser has signed in as before. */
  knownUserId?: string | undefined;
}

const maxWrongNetworks = 10_000;
const wrongForMs = 10 * minuteMs;
/** More than a network may hold slots. */
const weightOfWrong = 1000;

/**
 * Slots in which callers wait for a check of a password. When all are taken, wide networks with wrong passwords of late
 * give way to others; then the one with most slots does, and then the one with most wrong passwords. On a tie the
 * newcomer is refused.
 */
export class PasswordSlots {
  readonly #slots = new Shares(shares.passwords);
  readonly #kept = new Shares(shares.keptPasswords);
  readonly #turns: ReturnType<typeof openTurns>;
  readonly #refusalOf: (full: Full) => Error;
  /** By wide network. */
  readonly #wrong = rememberRecent<number>(maxWrongNetworks, { ttl: wrongForMs });

  /** @param refusalOf makes the error of a caller that gets no slot, or loses its own */
  constructor(refusalOf: (full: Full) => Error, turns: TurnBounds = resources.passwords) {
    this.#refusalOf = refusalOf;
    this.#turns = openTurns(turns);
  }

  /** Runs the work in the caller's turn. @throws the error of `refusalOf` */
  async run<Result>(caller: PasswordCaller, work: () => Promise<Result>): Promise<Result> {
    const { knownUserId: user } = caller;
    const kept = user === undefined ? "all" : this.#kept.take({ user });
    if (typeof kept === "string") return this.#runWaiting(caller, work);
    try {
      // Its own turns: strangers may fill those of its network.
      return await this.#turns.take(ownerOfNetwork(`of ${user}`), work);
    } finally {
      this.#kept.release(kept);
    }
  }

  /** Counts a wrong password against the caller's wide network. */
  countWrong({ wideNetwork }: CallerNetworks): void {
    this.#wrong.set(wideNetwork, (this.#wrong.get(wideNetwork) ?? 0) + 1);
  }

  async #runWaiting<Result>(
    { network, wideNetwork }: CallerNetworks,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const left = new AbortController();
    let isWaiting = true;
    const owners = { network, wideNetwork };
    const slot: Holder = {
      owners,
      held: 0,
      reasonsToLeave: (newcomer) => (isWaiting ? this.#rank(owners) - this.#rank(newcomer, 1) : 0),
      leave: () => left.abort(this.#refusalOf("all")),
    };
    const full = this.#slots.grow(slot, 1);
    if (full) throw this.#refusalOf(full);
    const start = () => {
      isWaiting = false;
      return work();
    };
    try {
      return await this.#turns.take(ownerOfNetwork(wideNetwork), start, left.signal);
    } finally {
      this.#slots.release(slot);
    }
  }

  #rank(owners: Owners, more = 0): number {
    const wrong = this.#wrong.get(owners.wideNetwork ?? "") ?? 0;
    const slots = this.#slots.heldBy("wideNetwork", owners) + more;
    return Math.min(wrong, 1) * weightOfWrong + slots + wrong / (wrong + 1);
  }
}
