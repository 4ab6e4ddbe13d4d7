import { isAnonymous, seenAs } from "./owner.ts";

/** An owner without work for longer is gone. */
const presentForMs = 50;

/** The owners that have work. */
class Presence {
  /** By owner: its tasks that run or wait. */
  readonly #tasks = new Map<string, number>();
  /** The owner seen last, and the one seen last before it. */
  #latest: string | undefined;
  #latestAt = 0;
  #other: string | undefined;
  #otherAt = 0;

  see(owner: string, now: number): void {
    if (owner !== this.#latest) {
      this.#other = this.#latest;
      this.#otherAt = this.#latestAt;
      this.#latest = owner;
    }
    this.#latestAt = now;
  }

  enter(owner: string): void {
    this.#tasks.set(owner, (this.#tasks.get(owner) ?? 0) + 1);
  }

  leave(owner: string): void {
    const left = (this.#tasks.get(owner) ?? 0) - 1;
    if (left > 0) this.#tasks.set(owner, left);
    else this.#tasks.delete(owner);
  }

  hasOthers(owner: string, since: number): boolean {
    if (this.#tasks.size > (this.#tasks.has(owner) ? 1 : 0)) return true;
    const isLatest = this.#latest === owner;
    const other = isLatest ? this.#other : this.#latest;
    return other !== undefined && (isLatest ? this.#otherAt : this.#latestAt) > since;
  }
}

const organizations = new Presence();
const anybody = new Presence();

/** Notes that an owner has work in this process that takes no turn, such as a delivery. */
export function seeOwner(owner: string): void {
  const now = performance.now();
  if (!isAnonymous(owner)) organizations.see(owner, now);
  anybody.see(owner, now);
}

/** Notes that a task of an owner waits or runs. @returns ends it */
export function enterOwner(given: string): () => void {
  const owner = seenAs(given);
  const isKnown = !isAnonymous(owner);
  if (isKnown) organizations.enter(owner);
  anybody.enter(owner);
  return () => {
    seeOwner(owner);
    if (isKnown) organizations.leave(owner);
    anybody.leave(owner);
  };
}

/**
 * Returns true if nobody else has work in this process, or had within the last 50 ms. Callers who have not said who they
 * are keep no organization waiting.
 * @param taskMs the time of a task that has ended: who had work during it counts, too
 */
export function isAlone(given: string, taskMs = 0): boolean {
  const owner = seenAs(given);
  const present = isAnonymous(owner) ? anybody : organizations;
  return !present.hasOthers(owner, performance.now() - presentForMs - taskMs);
}
