import { eq, inArray } from "drizzle-orm";
import { selectJobs, wholeJob } from "../../../shared/builds/rows/job-store.ts";
import type { Db } from "../../../shared/db/database.ts";
import { leasedJobStates, waitingJobStates } from "../../../shared/vocabulary.ts";

/** An entry of a concurrency group at a look, as its job is. */
export interface SeenEntry {
  jobId: string;
  buildId: string;
  groupId: string;
  isHolding: boolean;
  isEager: boolean;
  limit: number;
  orderedAt: Date;
  position: number;
}

/** One statement sees one moment. */
export async function readEntries(db: Db): Promise<SeenEntry[]> {
  const { concurrencyMembers: entries, jobs } = db.tables;
  const { jobId, buildId, groupId, isEager, limit, orderedAt, position } = entries;
  const rows = await db
    .select({ jobId, buildId, groupId, isEager, limit, orderedAt, position, state: jobs.state })
    .from(entries)
    .innerJoin(jobs, eq(jobs.id, jobId));
  const notStarted = new Set([...waitingJobStates, "limited"]);
  return rows.map(({ state, ...entry }) => ({ ...entry, isHolding: !notStarted.has(state) }));
}

/** Counts the jobs that an agent has or may take, by their group. Reads no entries: they may be wrong. */
export async function readHolders(db: Db): Promise<{ group: string; limit: number }[]> {
  const { jobs } = db.tables;
  const open = await selectJobs(db).where(inArray(jobs.state, ["scheduled", ...leasedJobStates]));
  return open.map(wholeJob).flatMap(({ options }) => {
    const { concurrency_group: group, concurrency: limit = 1 } = options ?? {};
    return group === undefined ? [] : [{ group, limit }];
  });
}

/** Groups of which more jobs are in these states than may be. */
export function findCrowds(holders: { group: string; limit: number }[]): string[] {
  return [...Map.groupBy(holders, ({ group }) => group)].flatMap(([group, own]) => {
    const limit = Math.max(...own.map((each) => each.limit));
    return own.length > limit ? [`${own.length} jobs of ${group} have started, and ${limit} may`] : [];
  });
}

/**
 * Compares two looks: no group is over its limit, and no ordered job has started before those ahead of it. Only entries
 * of both looks were there when it did.
 */
export function findGroupFaults(before: SeenEntry[], now: SeenEntry[]): string[] {
  const seen = new Map(before.map((entry) => [entry.jobId, entry]));
  return [...Map.groupBy(now, ({ groupId }) => groupId).values()].flatMap((entries) => {
    const holders = entries.filter(({ isHolding }) => isHolding);
    const limit = Math.max(...entries.map((entry) => entry.limit));
    const over = holders.length > limit ? [`${holders.length} jobs hold a group of ${limit}`] : [];
    const started = holders.filter(({ jobId, isEager }) => !isEager && seen.get(jobId)?.isHolding === false);
    const overtaken = started.flatMap((entry) => {
      const ahead = entries.filter((other) => seen.has(other.jobId) && isAhead(other, entry));
      return ahead.length >= entry.limit
        ? [
            `job ${entry.jobId} has started, with ${ahead.length} jobs before it and a limit of ${entry.limit}`,
          ]
        : [];
    });
    return [...over, ...overtaken];
  });
}

function isAhead(other: SeenEntry, entry: SeenEntry): boolean {
  const times = other.orderedAt.getTime() - entry.orderedAt.getTime();
  if (times !== 0) return times < 0;
  if (other.buildId !== entry.buildId) return other.buildId < entry.buildId;
  const places = other.position - entry.position;
  return places === 0 ? other.jobId < entry.jobId : places < 0;
}
