import { maxCommitsOfPrefix, resolveCommit } from "../builds/reading/commits.ts";
import { listBuildsInBrief } from "../builds/reading/list.ts";
import type { BuildFilter } from "../builds/reading/list-plan-store.ts";
import type { ListedBuild } from "../builds/rows/build-store.ts";
import type { Db } from "../db/database.ts";
import { isId, lowerCaseId } from "../ids.ts";
import { Refusal } from "../refusal.ts";
import * as store from "./store.ts";

/** Rows of one kind. */
export const maxFound = 8;
/** The newest builds are looked through first. */
const messageDeadlineMs = 200;
const maxBuildNumber = 2 ** 31 - 1;
const minMessageCharacters = 3;

/** `12`, `#12`, `!12` or `web#12` */
const numbered = /^(?:([a-z0-9-]+)?[#!])?(\d{1,10})$/;
const partOfCommit = /^[0-9a-f]{7,64}$/;

export type Found = Awaited<ReturnType<typeof searchOrganization>>;

/** Everything in an organization that a text may mean, the best of each kind first. @param text not empty */
export async function searchOrganization(db: Db, organizationId: string, text: string) {
  const search = { organizationId, text, limit: maxFound };
  const reader = db.offLoop;
  const id = lowerCaseId(text);
  return {
    pipelines: await store.listPipelinesNamed(reader, search),
    ...(await searchNumber(db, organizationId, text.toLowerCase())),
    commit: await searchCommit(db, organizationId, text.toLowerCase()),
    branch: await listBuildsBy(db, { organizationId, branches: [text] }),
    message: await searchMessages(db, organizationId, text),
    delivery: isId(id) ? await store.findDeliveryById(db, { organizationId, id }) : undefined,
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
    builds: await store.listBuildsNumbered(db.offLoop, search),
    request: await store.listBuildsOfRequest(db.offLoop, search),
  };
}

/** Builds of the commits that begin with this, unless these are too many. */
async function searchCommit(db: Db, organizationId: string, text: string): Promise<ListedBuild[]> {
  if (!partOfCommit.test(text)) return [];
  const commits = await resolveCommit(db, { organizationId }, text);
  return commits.length > maxCommitsOfPrefix ? [] : listBuildsBy(db, { organizationId, commits });
}

/** Undefined: there are too many builds to look through. */
async function searchMessages(
  db: Db,
  organizationId: string,
  text: string,
): Promise<ListedBuild[] | undefined> {
  if (text.length < minMessageCharacters || isId(lowerCaseId(text))) return [];
  try {
    return await listBuildsBy(db, { organizationId, message: text });
  } catch (error) {
    if (error instanceof Refusal && error.status === 503) return undefined;
    throw error;
  }
}

async function listBuildsBy(db: Db, filter: Omit<BuildFilter, "includePaused">): Promise<ListedBuild[]> {
  const page = { limit: maxFound, offset: 0 };
  const options = { deadlineMs: messageDeadlineMs };
  return (await listBuildsInBrief(db, { ...filter, includePaused: true }, page, options)).rows;
}
