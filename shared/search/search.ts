import { maxCommitsOfPrefix, resolveCommit } from "../builds/reading/commits.ts";
import { listBuildsInBrief } from "../builds/reading/list.ts";
import type { BuildFilter } from "../builds/reading/list-plan-store.ts";
import type { ListedBuild } from "../builds/rows/build-store.ts";
import type { Db } from "../db/database.ts";
import { lowestIdAt } from "../ids.ts";
import type { Services } from "../services/services.ts";
import { findFilled } from "../words/fill-store.ts";
import type { BuildTexts } from "../words/store.ts";
import { searchBranches } from "./branches.ts";
import { listBuildsMadeAfter, listBuildsNumbered, listBuildsOfRequest } from "./builds-store.ts";
import { searchDeliveries } from "./deliveries.ts";
import { searchMessages } from "./messages.ts";
import * as store from "./store.ts";

/** Rows of one kind. */
const maxFound = 8;
const maxNewBuilds = 500;
const maxBuildNumber = 2 ** 31 - 1;

/** `12`, `#12`, `!12` or `web#12` */
const numbered = /^(?:([a-z0-9-]+)?[#!])?(\d{1,10})$/;
const partOfCommit = /^[0-9a-f]{7,64}$/;

export type Found = Awaited<ReturnType<typeof searchOrganization>>;

/** Everything in an organization that a text may mean, the best of each kind first. @param text not empty */
export async function searchOrganization(
  { db, clock }: Pick<Services, "db" | "clock">,
  organizationId: string,
  text: string,
) {
  const search = { organizationId, text, limit: maxFound };
  const reader = db.offLoop;
  const texts = { ...search, newBuilds: await listNewBuilds(db, organizationId) };
  return {
    pipelines: await store.listPipelinesNamed(reader, search),
    ...(await searchNumber(db, organizationId, text.toLowerCase())),
    commit: await searchCommit(db, organizationId, text.toLowerCase()),
    branch: await listBuildsBy(db, { organizationId, branches: [text] }),
    branches: await searchBranches(db, texts),
    message: await searchMessages(db, texts),
    deliveries: await searchDeliveries(db, search, clock.now()),
    queues: await store.listQueuesNamed(reader, search),
    clusters: await store.listClustersNamed(reader, search),
    agents: await store.listAgentsNamed(reader, search),
    members: await store.listMembersNamed(reader, search),
  };
}

/** Builds and pull requests share the way they are written. */
async function searchNumber(
  db: Db,
  organizationId: string,
  text: string,
): Promise<{ builds: ListedBuild[]; request: ListedBuild[] }> {
  const [, slug, digits] = numbered.exec(text) ?? [];
  const number = Number(digits);
  if (!(number <= maxBuildNumber)) return { builds: [], request: [] };
  const search = { organizationId, slug, number, limit: maxFound };
  return {
    builds: await listBuildsNumbered(db.offLoop, search),
    request: await listBuildsOfRequest(db.offLoop, search),
  };
}

/** Builds of the commits that begin with this, unless these are too many. */
async function searchCommit(db: Db, organizationId: string, text: string): Promise<ListedBuild[]> {
  if (!partOfCommit.test(text)) return [];
  const commits = await resolveCommit(db, { organizationId }, text);
  return commits.length > maxCommitsOfPrefix ? [] : listBuildsBy(db, { organizationId, commits });
}

/** The newest builds of an organization, which have no words yet. */
async function listNewBuilds(db: Db, organizationId: string): Promise<BuildTexts[]> {
  const after = (await findFilled(db, "builds"))?.last ?? lowestIdAt(new Date(0));
  return listBuildsMadeAfter(db.offLoop, organizationId, after, maxNewBuilds);
}

async function listBuildsBy(db: Db, filter: Omit<BuildFilter, "includePaused">): Promise<ListedBuild[]> {
  const page = { limit: maxFound, offset: 0 };
  return (await listBuildsInBrief(db, { ...filter, includePaused: true }, page)).rows;
}
