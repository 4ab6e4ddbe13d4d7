import type { ListedBuild } from "../builds/rows/build-store.ts";
import type { Db } from "../db/database.ts";
import { countWords, listSubjects, listWords, type WordScope } from "../words/find-store.ts";
import { type BuildTexts, textsOfBuilds } from "../words/store.ts";
import { wordsOf, wordsOfBuild } from "../words/words.ts";
import { listBuildsById } from "./builds-store.ts";

const maxTerms = 6;
/** Builds with the rarest of several terms, whose texts are read for the other terms. */
const maxCandidates = 1000;
const readAtOnce = 250;

/** A search of builds of one organization. */
export interface BuildTextSearch {
  organizationId: string;
  text: string;
  /** Builds that have no words yet. */
  newBuilds: BuildTexts[];
  limit: number;
}

interface Match {
  id: string;
  /** It has the terms themselves. */
  isExact: boolean;
}

/**
 * Builds whose message or author has, for each word of a text, a word that begins with it. Builds that
 * have the words themselves come first; then the newest.
 */
export async function searchMessages(
  db: Db,
  { organizationId, text, newBuilds, limit }: BuildTextSearch,
): Promise<ListedBuild[]> {
  const terms = wordsOf(text, maxTerms);
  if (terms.length === 0) return [];
  const found = [
    ...matchAll(newBuilds, terms),
    ...(await searchWords(db, { organizationId, kind: "word" }, terms, limit)),
  ];
  const ids = rank(found).slice(0, limit);
  const builds = new Map((await listBuildsById(db.offLoop, ids)).map((each) => [each.id, each]));
  return ids.flatMap((id) => builds.get(id) ?? []);
}

function rank(found: Match[]): string[] {
  const exact = new Set(found.flatMap(({ id, isExact }) => (isExact ? id : [])));
  const newestFirst = [...new Set(found.map(({ id }) => id))].sort().reverse();
  return [...newestFirst.filter((id) => exact.has(id)), ...newestFirst.filter((id) => !exact.has(id))];
}

async function searchWords(db: Db, scope: WordScope, terms: string[], limit: number): Promise<Match[]> {
  const [term = "", ...others] = await rarestFirst(db, scope, terms);
  const words = await listWords(db.offLoop, scope, term);
  const candidates = await listCandidates(db, scope, term, words, others.length > 0 ? maxCandidates : limit);
  if (others.length === 0) return candidates;

  const ids = [...new Set(candidates.map(({ id }) => id))];
  const found: Match[] = [];
  for (let at = 0; at < ids.length && found.length < limit; at += readAtOnce) {
    const builds = await textsOfBuilds(db.offLoop, ids.slice(at, at + readAtOnce));
    found.push(...matchAll(builds, terms));
  }
  return found;
}

async function rarestFirst(db: Db, scope: WordScope, terms: string[]): Promise<string[]> {
  if (terms.length === 1) return terms;
  const counted: { term: string; total: number }[] = [];
  for (const term of terms)
    counted.push({ term, total: await countWords(db.offLoop, scope, term, maxCandidates) });
  return counted.sort((a, b) => a.total - b.total).map(({ term }) => term);
}

/** The newest with the term itself, and the newest with other words that begin with it. */
async function listCandidates(
  db: Db,
  scope: WordScope,
  term: string,
  words: string[],
  limit: number,
): Promise<Match[]> {
  const others = words.filter((word) => word !== term);
  const isThere = others.length < words.length;
  const ofEach = Math.ceil(Math.max(limit, maxCandidates) / Math.max(1, others.length));
  const exact = await listSubjects(db.offLoop, scope, isThere ? [term] : [], { ofEach: limit, limit });
  const rest = await listSubjects(db.offLoop, scope, others, { ofEach: Math.min(limit, ofEach), limit });
  return [...exact.map((id) => ({ id, isExact: true })), ...rest.map((id) => ({ id, isExact: false }))];
}

function matchAll(builds: BuildTexts[], terms: string[]): Match[] {
  return builds.flatMap((build) => {
    const words = wordsOfBuild(build);
    if (!terms.every((term) => words.some((word) => word.startsWith(term)))) return [];
    return { id: build.id, isExact: terms.every((term) => words.includes(term)) };
  });
}
