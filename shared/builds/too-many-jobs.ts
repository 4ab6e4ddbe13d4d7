import { estimateAddedCharacters } from "../pipelines/interpolate.ts";
import { countJobs, jobBytes, maxJobBytes, maxJobsOfBuild } from "../pipelines/steps.ts";
import type { Pipeline } from "../pipelines/store.ts";
import type { Step } from "../vocabulary.ts";

interface Request {
  deliveryId: string | null;
}

/** The requests of an organization, in parts that a transaction each may carry out. */
export interface Excess {
  organizationId: string;
  parts: Request[][];
}

/**
 * The builds of an organization would have more jobs together than a single one may have, or one of them is large.
 * Nothing was written.
 */
export class TooManyJobs extends Error {
  override readonly name = "TooManyJobs";
  readonly excesses: Excess[];

  constructor(excesses: Excess[]) {
    super("One transaction would make too many jobs.");
    this.excesses = excesses;
  }
}

/**
 * @param maxShare a build is large if it is more than this part of the largest one that there may be. 1: no build is
 * @throws TooManyJobs
 */
export function requireFewJobs(
  pipelines: Pipeline[],
  byPipeline: Map<string, Request[]>,
  maxShare: number,
): void {
  const loads = pipelines.map(({ id, organizationId, steps }) => {
    const requests = byPipeline.get(id) ?? [];
    const share = shareOf(steps);
    return { organizationId, requests, share, total: share * requests.length };
  });
  const excesses = [...Map.groupBy(loads, ({ organizationId }) => organizationId)]
    .filter(([, own]) => isTooMuch(own, maxShare))
    .map(([organizationId, own]) => ({ organizationId, parts: own.flatMap(divide) }))
    .filter(({ parts }) => parts.length > 1 || maxShare < 1);
  if (excesses.length > 0) throw new TooManyJobs(excesses);
}

function isTooMuch(loads: { share: number; total: number }[], maxShare: number): boolean {
  const isLarge = loads.some(({ share, total }) => total > 0 && share > maxShare);
  return isLarge || loads.reduce((sum, { total }) => sum + total, 0) > 1;
}

/** Keeps the order, in which builds are numbered. */
function divide({ requests, share }: { requests: Request[]; share: number }): Request[][] {
  const size = Math.max(1, Math.floor(1 / share));
  const parts: Request[][] = [];
  for (let start = 0; start < requests.length; start += size) parts.push(requests.slice(start, start + size));
  return parts;
}

/** A build's part of the largest one, from 0 to 1. */
function shareOf(steps: Step[]): number {
  const bytes = jobBytes(steps) + estimateAddedCharacters(steps);
  return Math.max(countJobs(steps) / maxJobsOfBuild, bytes / maxJobBytes);
}
