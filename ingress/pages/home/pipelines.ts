import { listUsersById } from "../../../shared/accounts/user-store.ts";
import {
  type BranchBuild,
  listNumberedForRows,
  listOfDefaultBranches,
} from "../../../shared/builds/reading/branch-builds-store.ts";
import { listStarredPipelines } from "../../../shared/pipelines/stars/store.ts";
import {
  type ListedPipeline,
  listPipelineNames,
  listPipelineNamesById,
} from "../../../shared/pipelines/store.ts";
import { listPipelinesNamed } from "../../../shared/search/store.ts";
import type { Services } from "../../../shared/services/services.ts";

const maxPipelines = 30;
/** Bars of each. */
const maxBars = 20;

export type HomePipeline = Awaited<ReturnType<typeof loadPipelines>>["rows"][number];

/**
 * Lists the pipelines that a member starred, then the pipelines that were built last, each with the last builds of its
 * default branch.
 * @param name a part of the name or slug; empty: all
 * @param recentIds the pipelines of the last builds, newest first
 */
export async function loadPipelines(
  services: Services,
  member: { organizationId: string; userId: string },
  { name, recentIds }: { name: string; recentIds: string[] },
) {
  const { db } = services;
  const allStarred = await listStarredPipelines(db, member);
  const starred = allStarred.filter((each) => hasName(each, name));
  const starredIds = new Set(starred.map(({ id }) => id));
  const found = name
    ? await findNamed(services, member.organizationId, name)
    : await findRecent(services, member.organizationId, recentIds);
  const place = new Map(recentIds.map((id, index) => [id, index]));
  const byLastBuild = (one: ListedPipeline, other: ListedPipeline) =>
    (place.get(one.id) ?? 1e9) - (place.get(other.id) ?? 1e9);
  const others = found.filter(({ id }) => !starredIds.has(id)).toSorted(byLastBuild);
  const room = Math.max(0, maxPipelines - starred.length);
  const pipelines = [...starred.toSorted(byLastBuild), ...others.slice(0, room)];
  const ids = pipelines.map(({ id }) => id);
  const bars = Map.groupBy(
    ids.length === 0 ? [] : await listOfDefaultBranches(db, { ids, limit: maxBars }),
    ({ pipelineId }) => pipelineId,
  );
  const last = await loadLast(services, pipelines, bars);
  return {
    rows: pipelines.map((pipeline) => ({
      pipeline,
      isStarred: starredIds.has(pipeline.id),
      bars: bars.get(pipeline.id) ?? [],
      last: last.get(pipeline.id),
    })),
    hasMore: others.length > room || found.length > maxPipelines,
  };
}

/** As the search of names does, for letters of ASCII. */
function hasName({ name, slug }: ListedPipeline, part: string): boolean {
  return `${name}\n${slug}`.toLowerCase().includes(part.toLowerCase());
}

async function findNamed({ db }: Services, organizationId: string, text: string): Promise<ListedPipeline[]> {
  const named = await listPipelinesNamed(db, { organizationId, text, limit: maxPipelines + 1 });
  const present = named.filter(({ archivedAt }) => archivedAt === null);
  return listPipelineNamesById(
    db,
    present.map(({ id }) => id),
  );
}

/** Those without a recent build follow, oldest first. */
async function findRecent(
  { db }: Services,
  organizationId: string,
  recentIds: string[],
): Promise<ListedPipeline[]> {
  const built = await listPipelineNamesById(db, recentIds.slice(0, 2 * maxPipelines));
  const present = built.filter(({ archivedAt }) => archivedAt === null);
  if (present.length > maxPipelines) return present;
  const { rows } = await listPipelineNames(db, { organizationId }, { limit: maxPipelines + 1, offset: 0 });
  const known = new Set(present.map(({ id }) => id));
  return [...present, ...rows.filter(({ id }) => !known.has(id))];
}

/** Of the default branch or, if that has none, of any. */
async function loadLast({ db }: Services, pipelines: ListedPipeline[], bars: Map<string, BranchBuild[]>) {
  const builds = await listNumberedForRows(
    db,
    pipelines.map(({ id, lastBuildNumber }) => ({
      pipelineId: id,
      number: bars.get(id)?.[0]?.number ?? lastBuildNumber,
    })),
  );
  const users = await listUsersById(
    db,
    builds.flatMap(({ creatorId }) => creatorId ?? []),
  );
  const named = builds.map((build) => ({
    ...build,
    by: users.get(build.creatorId ?? "")?.name ?? build.author?.name ?? build.author?.username,
  }));
  return new Map(named.map((build) => [build.pipelineId, build]));
}
