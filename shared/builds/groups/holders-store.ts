import { and, eq, inArray } from "drizzle-orm";
import type { Db } from "../../db/database.ts";
import type { EntryStanding } from "../../vocabulary.ts";
import { isBefore } from "./decide.ts";
import { orderOfGroup } from "./decide-store.ts";

/** A job that holds a group, or waits for it. */
export interface JobOfGroup {
  jobId: string;
  buildNumber: number;
  pipelineSlug: string;
}

export interface GroupOfJob {
  id: string;
  name: string;
  /** The limit of the job that waits. */
  limit: number;
  /** The first that hold it. */
  holders: JobOfGroup[];
  /** The first that go before it, as its group is ordered: limited ones, and those that wait for steps. */
  ahead: JobOfGroup[];
  hasMore: boolean;
}

const maxNamed = 3;
/** Groups whose holders are read. Jobs of one build rarely belong to more. */
const maxGroups = 20;

/** Finds the groups of jobs that wait for them, and the jobs that keep them out. @returns by the id of the job */
export async function listGroupsOfJobs(db: Db, jobs: { id: string }[]): Promise<Map<string, GroupOfJob>> {
  const found = new Map<string, GroupOfJob>();
  if (jobs.length === 0) return found;
  const { concurrencyMembers: entries, concurrencyGroups: groups } = db.tables;
  const rows = await db
    .select({ entry: entries, id: groups.id, name: groups.name })
    .from(entries)
    .innerJoin(groups, eq(groups.id, entries.groupId))
    .where(
      inArray(
        entries.jobId,
        jobs.map(({ id }) => id),
      ),
    );
  const byGroup = [...Map.groupBy(rows, ({ id }) => id)];
  for (const [index, [groupId, waiting]] of byGroup.entries()) {
    const list = (standing: EntryStanding) =>
      index < maxGroups ? listFirstOf(db, { groupId, standing }) : Promise.resolve([]);
    const holders = await list("holding");
    const others = [...(await list("limited")), ...(await list("waiting"))];
    const inOrder = others.sort((one, other) => (isBefore(one.entry, other.entry) ? -1 : 1));
    for (const { entry, id, name } of waiting) {
      // Entries ahead keep an ordered job out, also while they wait for steps of their own.
      const ahead = entry.isEager ? [] : inOrder.filter((each) => isBefore(each.entry, entry));
      const named = (list: typeof others) => list.slice(0, maxNamed).map(({ job }) => job);
      const hasMore = holders.length > maxNamed || ahead.length > maxNamed;
      const { limit } = entry;
      found.set(entry.jobId, { id, name, limit, holders: named(holders), ahead: named(ahead), hasMore });
    }
  }
  return found;
}

/** The first of a group with one standing, in its order, and one more than are named. */
async function listFirstOf(db: Db, { groupId, standing }: { groupId: string; standing: EntryStanding }) {
  const { concurrencyMembers: entries, builds, pipelines } = db.tables;
  return db
    .select({
      entry: entries,
      job: { jobId: entries.jobId, buildNumber: builds.number, pipelineSlug: pipelines.slug },
    })
    .from(entries)
    .innerJoin(builds, eq(builds.id, entries.buildId))
    .innerJoin(pipelines, eq(pipelines.id, builds.pipelineId))
    .where(and(eq(entries.groupId, groupId), eq(entries.standing, standing)))
    .orderBy(...orderOfGroup(db))
    .limit(maxNamed + 1);
}
