import { setImmediate as nextTurn } from "node:timers/promises";
import { listJobsById } from "../builds/reading/job-list-store.ts";
import type { Db } from "../db/database.ts";
import { isId, lowerCaseId } from "../ids.ts";
import { excerpt, Refusal } from "../refusal.ts";
import type { ArtifactState } from "../vocabulary.ts";
import { openPattern, withSlashes } from "./glob.ts";
import { type Candidate, listCandidates } from "./store.ts";

export interface ArtifactQuery {
  /** `*` is any run of characters, also of `/`. Nothing else is special. */
  query: string;
  /** The id of a job, else the key or label of a step. */
  scope: string | undefined;
  /** Undefined: any. */
  state: ArtifactState | undefined;
  includesRetriedJobs: boolean;
  includesDuplicates: boolean;
}

const maxAtOnce = 500;
/** Paths are compared for so long in a turn of the event loop. 8 MB of them may take a second. */
const sliceMs = 5;

/**
 * Finds artifacts of a build, oldest first. Without duplicates, a pattern gives the newest of each path; with a step as
 * scope one for each of its jobs.
 * @returns their ids
 * @throws Refusal 400 if several jobs have an exact path
 */
export async function searchArtifacts(db: Db, buildId: string, query: ArtifactQuery): Promise<string[]> {
  const { state } = query;
  const jobId =
    query.scope !== undefined && isId(lowerCaseId(query.scope)) ? lowerCaseId(query.scope) : undefined;
  const candidates = await listCandidates(db, buildId, { state, jobId });
  const isAsked = ({ isRetried }: Candidate) =>
    query.includesRetriedJobs || jobId !== undefined || !isRetried;
  const matching = await matchingPaths(candidates.filter(isAsked), query.query);
  const isOfStep = query.scope !== undefined && jobId === undefined;
  const found = isOfStep ? await ofStep(db, matching, query.scope as string) : matching;
  return (query.includesDuplicates ? found : withoutDuplicates(found, query, isOfStep)).map(({ id }) => id);
}

async function matchingPaths(candidates: Candidate[], query: string): Promise<Candidate[]> {
  const isMatch = openPattern(query);
  const matching: Candidate[] = [];
  let startedAt = performance.now();
  for (const candidate of candidates) {
    if (isMatch(candidate.path)) matching.push(candidate);
    if (performance.now() - startedAt < sliceMs) continue;
    await nextTurn();
    startedAt = performance.now();
  }
  return matching;
}

async function ofStep(db: Db, candidates: Candidate[], scope: string): Promise<Candidate[]> {
  const jobIds = [...new Set(candidates.map(({ jobId }) => jobId))];
  const inScope = new Set<string>();
  for (let at = 0; at < jobIds.length; at += maxAtOnce) {
    const jobs = await listJobsById(db, jobIds.slice(at, at + maxAtOnce));
    for (const { id, label, options } of jobs.values())
      if (label === scope || options?.key === scope) inScope.add(id);
  }
  return candidates.filter(({ jobId }) => inScope.has(jobId));
}

/** @throws Refusal 400 */
function withoutDuplicates(found: Candidate[], { query }: ArtifactQuery, isOfStep: boolean): Candidate[] {
  const isExact = !query.includes("*");
  if (isExact && new Set(found.map(({ jobId }) => jobId)).size > 1)
    throw new Refusal(
      400,
      `Multiple artifacts were found for query: \`${excerpt(query)}\`. Try scoping by the job ID or name.`,
    );
  const keyOf = ({ jobId, path }: Candidate) => `${isOfStep ? jobId : ""} ${withSlashes(path)}`;
  const newest = new Map(found.map((each) => [keyOf(each), each.id]));
  return found.filter((each) => newest.get(keyOf(each)) === each.id);
}
