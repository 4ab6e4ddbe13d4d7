import type { Organization } from "../accounts/organization-store.ts";
import { listUsersById } from "../accounts/user-store.ts";
import { listMetaData } from "../builds/meta-data/meta-data-store.ts";
import { type Build, listBuildNumbers, listBuildsById } from "../builds/rows/build-store.ts";
import type { Services } from "../services/services.ts";
import { presentBuild } from "./build.ts";

/** A build, and its JSON. */
export interface PresentedBuild {
  build: Build;
  pipeline: { slug: string };
  /** All of the build but its pipeline and jobs. */
  members: ReturnType<typeof presentBuild>;
}

/**
 * Reads builds and all that their JSON names. Leaves out those that were deleted.
 * @param slugOf the slug of a pipeline, by id. Undefined: it was deleted, and its builds with it
 */
export async function presentBuilds(
  services: Pick<Services, "db" | "cipher" | "config">,
  organization: Organization,
  given: readonly { id: string }[],
  slugOf: (pipelineId: string) => string | undefined,
): Promise<Map<string, PresentedBuild>> {
  const builds = await listBuildsById(
    services.db,
    given.map(({ id }) => id),
  );
  return presentReadBuilds(services, organization, [...builds.values()], slugOf);
}

/** As `presentBuilds`, of builds that were read just now. */
export async function presentReadBuilds(
  { db, cipher, config }: Pick<Services, "db" | "cipher" | "config">,
  organization: Organization,
  builds: readonly Build[],
  slugOf: (pipelineId: string) => string | undefined,
): Promise<Map<string, PresentedBuild>> {
  const ids = builds.map(({ id }) => id);
  const users = await listUsersById(
    db,
    builds.flatMap(({ creatorId }) => creatorId ?? []),
  );
  const rebuilt = await listBuildNumbers(
    db,
    builds.flatMap(({ rebuiltFromId }) => rebuiltFromId ?? []),
  );
  const rebuiltById = new Map(rebuilt.map((row) => [row.id, row]));
  const metaData = Map.groupBy(await listMetaData(db, { buildIds: ids }), (row) => row.buildId);
  const context = { cipher, config, organization, users };
  return new Map(
    builds.flatMap((build): [string, PresentedBuild][] => {
      const slug = slugOf(build.pipelineId);
      if (slug === undefined) return [];
      const pipeline = { slug };
      const entries = (metaData.get(build.id) ?? []).map(({ key, value }) => [key, value] as const);
      const rebuiltFrom = rebuiltById.get(build.rebuiltFromId ?? "");
      const details = { build, pipeline, metaData: Object.fromEntries(entries), rebuiltFrom };
      return [[build.id, { build, pipeline, members: presentBuild(context, details) }]];
    }),
  );
}
