import type { GroupEntry } from "./entries-store.ts";

export type Candidate = Omit<GroupEntry, "groupId">;

/** A group as a decision needs it. */
export interface GroupView {
  holders: number;
  /** Limited and waiting entries in their order: each at least as far as it can matter. */
  limited: Candidate[];
  waiting: Candidate[];
  /** Limited entries that may overtake, highest priority first. */
  eager: Candidate[];
}

/**
 * Decides which entries start. A job counts against its own limit: ordered ones start if those that hold the group and
 * those before them, ready or not, are fewer; eager ones if those that hold it are.
 */
export function decideStarts(
  { holders, limited, waiting, eager }: GroupView,
  maxStarts: number,
): Candidate[] {
  const starts: Candidate[] = [];
  let waitingAhead = 0;
  for (const [index, entry] of limited.entries()) {
    while (waitingAhead < waiting.length && isBefore(waiting[waitingAhead] as Candidate, entry))
      waitingAhead++;
    // Entries ahead that start now count either way.
    if (!entry.isEager && holders + index + waitingAhead < entry.limit) starts.push(entry);
  }
  const ordered = starts.slice(0, maxStarts);
  let holding = holders + ordered.length;
  for (const entry of eager) {
    if (ordered.length === maxStarts) break;
    if (holding >= entry.limit) continue;
    ordered.push(entry);
    holding++;
  }
  return ordered;
}

/** By the order of the group. */
export function isBefore(one: Candidate, other: Candidate): boolean {
  return compare(one, other) < 0;
}

/** For eager entries: higher priorities first. */
export function byPriority(one: Candidate, other: Candidate): number {
  return other.priority - one.priority || compare(one, other);
}

function compare(one: Candidate, other: Candidate): number {
  return (
    comparePlaces(one, other) ||
    one.position - other.position ||
    (one.jobId < other.jobId ? -1 : one.jobId > other.jobId ? 1 : 0)
  );
}

/** The place of a build in a group. Builds that were made at once have one time, and each goes as a whole. */
export type Place = Pick<GroupEntry, "orderedAt" | "buildId">;

/** Ids of builds that one process made rise with their numbers. */
export function comparePlaces(one: Place, other: Place): number {
  return (
    one.orderedAt.getTime() - other.orderedAt.getTime() ||
    (one.buildId < other.buildId ? -1 : one.buildId > other.buildId ? 1 : 0)
  );
}
