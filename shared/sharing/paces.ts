import { minuteMs } from "../durations.ts";
import { rememberRecent } from "./recent.ts";

/** By the tasks of an owner in the last minute. Undefined: there were none. */
export type Pace = "short" | "long" | undefined;

const knownForMs = minuteMs;
const maxOwners = 10_000;

/** Whether owners had long tasks of late. It outlives their tasks: an owner would else be new after each rest. */
export class Paces {
  readonly #paces = rememberRecent<"short" | "long">(maxOwners, { ttl: knownForMs });

  of(owner: string): Pace {
    return this.#paces.get(owner);
  }

  /** A short task does not make up for a long one: an owner would send them in turn. */
  learn(owner: string, isLong: boolean): Pace {
    if (isLong) this.#paces.set(owner, "long");
    else if (this.of(owner) !== "long") this.#paces.set(owner, "short");
    return this.of(owner);
  }
}
