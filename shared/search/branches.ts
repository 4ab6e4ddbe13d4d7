import type { ListedBuild } from "../builds/rows/build-store.ts";
import type { Db } from "../db/database.ts";
import { listSubjects, listWords, type WordScope } from "../words/find-store.ts";
import { nameOf } from "../words/words.ts";
import { listBuildsById } from "./builds-store.ts";
import type { BuildTextSearch } from "./messages.ts";

const minCharacters = 2;
/** The newest may be deleted already. */
const maxBuildsOfBranch = 3;

/** One of the last builds of each branch whose name is longer than a text and begins with it, by name. */
export async function searchBranches(
  db: Db,
  { organizationId, text, newBuilds, limit }: BuildTextSearch,
): Promise<ListedBuild[]> {
  const name = nameOf(text);
  if (name.length < minCharacters) return [];
  const scope: WordScope = { organizationId, kind: "branch" };
  const names = await listWords(db.offLoop, scope, name, limit + 1);
  const ofEach = { ofEach: maxBuildsOfBranch, limit: limit * maxBuildsOfBranch };
  const isFound = ({ branch }: { branch: string }) => branch !== text && nameOf(branch).startsWith(name);
  const ids = [
    ...newBuilds.filter(isFound).map(({ id }) => id),
    ...(await listSubjects(db.offLoop, scope, names, ofEach)),
  ];
  const builds = (await listBuildsById(db.offLoop, ids)).sort((a, b) => (a.id < b.id ? -1 : 1));
  const lastOfEach = new Map(builds.filter(isFound).map((build) => [build.branch, build]));
  return [...lastOfEach.values()].sort((a, b) => (a.branch < b.branch ? -1 : 1)).slice(0, limit);
}
