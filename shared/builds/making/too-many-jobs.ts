import { estimateAddedCharacters } from "../../pipelines/interpolate.ts";
import { countJobs, jobBytes, maxJobBytes, maxJobsOfBuild } from "../../pipelines/steps.ts";
import type { Pipeline } from "../../pipelines/store.ts";
import type { Step } from "../../vocabulary.ts";

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
 * @param maxSize builds above it are large. It is a part of the largest build that there may be; with 1 none is large
 * @throws TooManyJobs
 */
export function requireFewJobs(
  pipelines: Pipeline[],
  byPipeline: Map<string, Request[]>,
  maxSize: number,
): void {
  const loads = pipelines.map(({ id, organizationId, steps }): Load => {
    const requests = byPipeline.get(id) ?? [];
    const size = sizeOf(steps);
    return { organizationId, requests, size, total: size * requests.length };
  });
  const findLarge = maxSize < 1;
  const isLarge = ({ size, total }: Load) => findLarge && total > 0 && size > maxSize;
  const excesses = [...Map.groupBy(loads, ({ organizationId }) => organizationId)]
    .map(([organizationId, own]) => ({ organizationId, parts: findExcess(own, isLarge).flatMap(divide) }))
    .filter(({ parts }) => parts.length > (findLarge ? 0 : 1));
  if (excesses.length > 0) throw new TooManyJobs(excesses);
}

interface Load {
  organizationId: string;
  requests: Request[];
  size: number;
  total: number;
}

/** All of an organization if its small builds alone are too much, else its large ones: small ones do not wait for them. */
function findExcess(own: Load[], isLarge: (load: Load) => boolean): Load[] {
  const total = own.reduce((sum, load) => (isLarge(load) ? sum : sum + load.total), 0);
  return total > 1 ? own : own.filter(isLarge);
}

/** Keeps the order, in which builds are numbered. */
function divide({ requests, size }: { requests: Request[]; size: number }): Request[][] {
  const length = Math.max(1, Math.floor(1 / size));
  const parts: Request[][] = [];
  for (let start = 0; start < requests.length; start += length)
    parts.push(requests.slice(start, start + length));
  return parts;
}

/** The size of a build: 1 is that of the largest one that there may be. */
function sizeOf(steps: Step[]): number {
  const bytes = jobBytes(steps) + estimateAddedCharacters(steps);
  return Math.max(countJobs(steps) / maxJobsOfBuild, bytes / maxJobBytes);
}
