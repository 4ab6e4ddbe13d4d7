import { listUsersById } from "../../../../shared/accounts/user-store.ts";
import { listArtifactsPage } from "../../../../shared/artifacts/browse-store.ts";
import { listMetaDataStarts } from "../../../../shared/builds/meta-data/meta-data-store.ts";
import { listActsOfPeople } from "../../../../shared/builds/reading/history-store.ts";
import { listJobsById } from "../../../../shared/builds/reading/job-list-store.ts";
import type { Build } from "../../../../shared/builds/rows/build-store.ts";
import type { Services } from "../../../../shared/services/services.ts";

const maxArtifacts = 10;
const maxMetaData = 20;
const maxActs = 20;

export type BesideBuild = Awaited<ReturnType<typeof loadBeside>>;

/** The first artifacts, meta-data and acts of people of a build. */
export async function loadBeside({ db }: Services, build: Build) {
  const filter = { buildId: build.id, jobId: undefined, state: undefined };
  const metaData = await listMetaDataStarts(db, build.id, maxMetaData + 1);
  const acts = await listActsOfPeople(db, build.id, maxActs);
  const people = acts.flatMap(({ unblockedById, retriedById }) => [unblockedById, retriedById]);
  return {
    artifacts: await listArtifactsPage(db, filter, { limit: maxArtifacts, offset: 0 }),
    metaData: metaData.slice(0, maxMetaData),
    hasMoreMetaData: metaData.length > maxMetaData,
    acts,
    jobs: await listJobsById(
      db,
      acts.map(({ id }) => id),
    ),
    people: await listUsersById(
      db,
      people.filter((id) => id !== null),
    ),
  };
}
