import { minuteMs, secondMs } from "../durations.ts";
import { rememberRecent } from "./recent.ts";

/** By the tasks of an owner of late. Undefined: there were none. */
export type Pace = "short" | "long" | undefined;

const shortForMs = 10 * minuteMs;
/** Longer than a rest. On a busy machine any task may be long for once. */
const longForMs = 10 * secondMs;
const maxOwners = 10_000;

/** Remembers which owners had long tasks of late, also while they have none: else each would be new after a rest. */
export class Paces {
  readonly #paces = rememberRecent<"short" | "long">(maxOwners, { ttl: shortForMs });

  of(owner: string): Pace {
    return this.#paces.get(owner);
  }

  /** A short task does not make up for a long one: an owner would send them in turn. */
  learn(owner: string, isLong: boolean): Pace {
    if (isLong) this.#paces.set(owner, "long", { ttl: longForMs });
    else if (this.of(owner) !== "long") this.#paces.set(owner, "short");
    return this.of(owner);
  }
}
