import type { Tx } from "../../db/database.ts";
import type { Build } from "../rows/build-store.ts";
import { comparePlaces } from "./decide.ts";
import { findEntryOfBuild, type Group } from "./entries-store.ts";

// The place of a build in its groups is the time at which it was created: all of its entries go together, in the order
// of their steps, uploaded ones included. A build may come late, when a later one has been let in: a person unblocks
// it, or its upload takes longer. In its own place it would go into a gate that the other has not left. So it goes
// behind that one, in all of its groups: in different orders, two builds would wait for each other. While it has
// entries, later ones of it go to them.

/**
 * The time by which new entries of a build are ordered in their groups.
 * @param groups those of the entries
 */
export async function findPlace(
  tx: Tx,
  build: Pick<Build, "id" | "createdAt">,
  groups: Group[],
): Promise<Date> {
  const known = await findEntryOfBuild(tx, build.id);
  const timeMs = build.createdAt.getTime();
  return known?.orderedAt ?? new Date(timeMs + latenessOf(build, timeMs, groups));
}

/** Returns the milliseconds by which a build goes later than its own time. */
export function latenessOf({ id: buildId }: Pick<Build, "id">, timeMs: number, groups: Group[]): number {
  const own = { orderedAt: new Date(timeMs), buildId };
  const late = groups.map(({ reachedAt, reachedBuildId }) => {
    if (!reachedAt || !reachedBuildId || reachedBuildId === buildId) return 0;
    const isBehind = comparePlaces({ orderedAt: reachedAt, buildId: reachedBuildId }, own) < 0;
    return isBehind ? 0 : reachedAt.getTime() - timeMs + 1;
  });
  return Math.max(0, ...late);
}
