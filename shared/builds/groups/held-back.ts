import type { Tx } from "../../db/database.ts";
import { isActiveJob, type JobStanding } from "../../graph/progress.ts";
import type { Build } from "../rows/build-store.ts";
import { listWaitingEntries } from "./entries-store.ts";

const none: ReadonlySet<string> = new Set();

/**
 * The limited jobs that waiting ones of their own build keep from starting, if nothing else of the build is active. They
 * bring no key that those may wait for.
 * @param jobs of the build
 */
export async function findHeldBack(
  tx: Tx,
  { id, hasMembers }: Pick<Build, "id" | "hasMembers">,
  jobs: JobStanding[],
): Promise<ReadonlySet<string>> {
  const active = jobs.filter(isActiveJob);
  if (!hasMembers || active.length === 0 || active.some(({ state }) => state !== "limited")) return none;
  const heldBack = new Set<string>();
  const ahead = new Map<string, number>();
  for (const { jobId, group, limit, isEager, isLimited } of await listWaitingEntries(tx, id)) {
    const before = ahead.get(group) ?? 0;
    const isHeldBack = isLimited && !isEager && before >= limit;
    if (isHeldBack) heldBack.add(jobId);
    if (isHeldBack || !isLimited) ahead.set(group, before + 1);
  }
  return heldBack;
}
