import { and, eq, inArray } from "drizzle-orm";
import type { Db } from "../../db/database.ts";
import type { MemberStanding } from "../../vocabulary.ts";
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
  const { concurrencyMembers: members, concurrencyGroups: groups } = db.tables;
  const rows = await db
    .select({ member: members, id: groups.id, name: groups.name })
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
    const list = (standing: MemberStanding) =>
      index < maxGroups ? listFirstOf(db, { groupId, standing }) : Promise.resolve([]);
    const holders = await list("holding");
    const others = [...(await list("limited")), ...(await list("waiting"))];
    const inOrder = others.sort((one, other) => (isBefore(one.member, other.member) ? -1 : 1));
    for (const { member, id, name } of waiting) {
      // Members ahead keep an ordered job out, also while they wait for steps of their own.
      const ahead = member.isEager ? [] : inOrder.filter((each) => isBefore(each.member, member));
      const named = (list: typeof others) => list.slice(0, maxNamed).map(({ job }) => job);
      const hasMore = holders.length > maxNamed || ahead.length > maxNamed;
      const { limit } = member;
      found.set(member.jobId, { id, name, limit, holders: named(holders), ahead: named(ahead), hasMore });
    }
  }
  return found;
}

/** The first of a group with one standing, in its order, and one more than are named. */
async function listFirstOf(db: Db, { groupId, standing }: { groupId: string; standing: MemberStanding }) {
  const { concurrencyMembers: members, builds, pipelines } = db.tables;
  return db
    .select({
      member: members,
      job: { jobId: members.jobId, buildNumber: builds.number, pipelineSlug: pipelines.slug },
    })
    .from(members)
    .innerJoin(builds, eq(builds.id, members.buildId))
    .innerJoin(pipelines, eq(pipelines.id, builds.pipelineId))
    .where(and(eq(members.groupId, groupId), eq(members.standing, standing)))
    .orderBy(...orderOfGroup(db))
    .limit(maxNamed + 1);
}
