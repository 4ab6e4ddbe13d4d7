import { and, eq, inArray } from "drizzle-orm";
import type { Db } from "../../db/database.ts";
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
  hasMore: boolean;
}

const maxHolders = 3;
/** Groups whose holders are read. Jobs of one build rarely belong to more. */
const maxGroups = 20;

/** Finds the groups of jobs that wait for them, and who holds them. @returns by the id of the job */
export async function listGroupsOfJobs(db: Db, jobs: { id: string }[]): Promise<Map<string, GroupOfJob>> {
  const found = new Map<string, GroupOfJob>();
  if (jobs.length === 0) return found;
  const { concurrencyMembers: members, concurrencyGroups: groups } = db.tables;
  const rows = await db
    .select({ jobId: members.jobId, limit: members.limit, id: groups.id, name: groups.name })
    .from(members)
    .innerJoin(groups, eq(groups.id, members.groupId))
    .where(
      inArray(
        members.jobId,
        jobs.map(({ id }) => id),
      ),
    );
  const byGroup = [...Map.groupBy(rows, ({ id }) => id)];
  for (const [index, [groupId, waiting]] of byGroup.entries()) {
    const holders = index < maxGroups ? await listHolders(db, groupId, maxHolders + 1) : [];
    for (const { jobId, ...group } of waiting)
      found.set(jobId, {
        ...group,
        holders: holders.slice(0, maxHolders),
        hasMore: holders.length > maxHolders,
      });
  }
  return found;
}

/** The first that hold a group, in its order. */
async function listHolders(db: Db, groupId: string, limit: number): Promise<JobOfGroup[]> {
  const { concurrencyMembers: members, builds, pipelines } = db.tables;
  return db
    .select({ jobId: members.jobId, buildNumber: builds.number, pipelineSlug: pipelines.slug })
    .from(members)
    .innerJoin(builds, eq(builds.id, members.buildId))
    .innerJoin(pipelines, eq(pipelines.id, builds.pipelineId))
    .where(and(eq(members.groupId, groupId), eq(members.standing, "holding")))
    .orderBy(...orderOfGroup(db))
    .limit(limit);
}
