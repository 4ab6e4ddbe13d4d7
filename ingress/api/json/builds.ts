import type { Organization } from "../../../shared/accounts/organization-store.ts";
import {
  type AnsweredJob,
  type AnswerSize,
  type JobSize,
  listAnsweredJobs,
  listJobSizes,
} from "../../../shared/builds/reading/answer-store.ts";
import type { Build } from "../../../shared/builds/rows/build-store.ts";
import { findPlacedGraph, type PlacedGraph } from "../../../shared/builds/rows/graph-store.ts";
import { type BuildDetails, presentBuildDetails } from "../../../shared/presenters/build.ts";
import { type PresentedBuild, presentBuilds } from "../../../shared/presenters/load-builds.ts";
import { type JobsOfBuild, jobPresenter } from "../../../shared/presenters/load-jobs.ts";
import type { Services } from "../../../shared/services/services.ts";
import { inBatches, pieceLength } from "../../http/transfers/json-stream.ts";
import type { BuildContent } from "../build-filter.ts";
import type { PipelineTexts } from "./pipelines.ts";

/** Builds or jobs of so many bytes are read at once: that takes a few milliseconds of the event loop. */
const maxBytes = 96 * 1024;
/** Of the JSON of a job besides its step, with its agent. */
const bytesOfJob = 2048;

type AddressedBuild = Pick<Build, "id" | "pipelineId">;

interface BuildsOfAnswer {
  organization: Organization;
  content: BuildContent;
  /** The pipelines of the builds. */
  texts: PipelineTexts;
  /** By id of the build. */
  sizes: ReadonlyMap<string, AnswerSize>;
  /** Reads what only the answer about a single build has. */
  readDetails?: () => Promise<BuildDetails>;
}

/** Estimates the bytes of the answer. */
export function measureAnswer({ sizes, texts }: Pick<BuildsOfAnswer, "sizes" | "texts">): number {
  return [...sizes.values()].reduce((sum, size) => sum + costOfBuild(size), texts.bytes);
}

function costOfBuild({ jobs, bytes }: AnswerSize = { jobs: 0, bytes: 0 }): number {
  return bytes + jobs * bytesOfJob;
}

/**
 * The items of a list, with commas between them, in parts. Small builds are one part: to await each of theirs costs as
 * much as to make it. Leaves out builds that were deleted meanwhile.
 */
export async function* writeBuilds(
  services: Services,
  builds: readonly AddressedBuild[],
  answer: BuildsOfAnswer,
): AsyncGenerator<string> {
  const { content, sizes, texts } = answer;
  const costOf = ({ id }: { id: string }) => costOfBuild(sizes.get(id));
  let comma = "";
  for (const batch of inBatches(builds, costOf, maxBytes)) {
    const isLarge = batch.some((build) => costOf(build) > maxBytes);
    let text = "";
    for (const { pipelineId, members, jobs } of await writeBatch(services, answer, batch, isLarge)) {
      const pipeline = content.hasPipeline ? await texts.find(pipelineId) : [];
      if (!pipeline) continue;
      text += comma + members;
      comma = ",";
      if (content.hasPipeline) text += ',"pipeline":';
      for (const part of pipeline) {
        text += part;
        if (text.length < pieceLength) continue;
        yield text;
        text = "";
      }
      if (content.hasJobs) text += ',"jobs":[';
      if (typeof jobs === "string") text += jobs;
      else {
        yield text;
        text = "";
        yield* jobs;
      }
      text += content.hasJobs ? "]}" : "}";
    }
    if (text !== "") yield text;
  }
}

interface WrittenBuild {
  pipelineId: string;
  /** An object without its end: neither pipeline nor jobs. */
  members: string;
  /** Of a large build, in parts. */
  jobs: string | AsyncGenerator<string>;
}

/** Returns texts, except for a large build: its caller waits for turns, and rows would stay in memory meanwhile. */
async function writeBatch(
  services: Services,
  answer: BuildsOfAnswer,
  batch: readonly AddressedBuild[],
  isLarge: boolean,
): Promise<WrittenBuild[]> {
  const { organization, content, texts, readDetails } = answer;
  const heads = await presentBuilds(services, organization, batch, (id) => texts.slugOf(id));
  const jobsOf =
    isLarge || !content.hasJobs ? undefined : await readJobs(services, answer, batch, [...heads.values()]);
  const details = readDetails && presentBuildDetails(await readDetails());
  return batch.flatMap(({ id, pipelineId }) => {
    const head = heads.get(id);
    if (!head) return [];
    const members = JSON.stringify(details ? { ...head.members, ...details } : head.members).slice(0, -1);
    const jobs = content.hasJobs ? (jobsOf?.(id) ?? writeJobs(services, answer, head)) : "";
    return [{ pipelineId, members, jobs }];
  });
}

/** Reads the jobs of small builds at once. */
async function readJobs(
  services: Services,
  answer: BuildsOfAnswer,
  batch: readonly AddressedBuild[],
  heads: readonly PresentedBuild[],
): Promise<(buildId: string) => string> {
  const buildIds = batch.map(({ id }) => id);
  const jobs = await listAnsweredJobs(services.db, { ...answer.content, buildIds });
  const headById = new Map(heads.map((head) => [head.build.id, head]));
  const present = await jobPresenter(services, answer.organization, withHeads(jobs, headById));
  const texts = Map.groupBy(jobs, ({ job }) => job.buildId);
  return (buildId) => {
    const head = headById.get(buildId);
    return head ? (texts.get(buildId) ?? []).map((job) => JSON.stringify(present(job, head))).join(",") : "";
  };
}

/** Reads the jobs of a large build some at a time. */
async function* writeJobs(
  services: Services,
  answer: BuildsOfAnswer,
  head: PresentedBuild,
): AsyncGenerator<string> {
  const sizes = await listJobSizes(services.db, head.build.id, answer.content);
  yield* writeTheseJobs(services, answer.organization, head, sizes);
}

/** The items of a list of jobs of one build, with commas between them. */
export async function* writeTheseJobs(
  services: Services,
  organization: Organization,
  head: JobsOfBuild["head"],
  sizes: readonly JobSize[],
): AsyncGenerator<string> {
  let graph: Promise<PlacedGraph> | undefined;
  const readGraph = () => {
    graph ??= findPlacedGraph(services.db, head.build);
    return graph;
  };
  let comma = "";
  for (const batch of inBatches(sizes, ({ bytes }) => bytes + bytesOfJob, maxBytes)) {
    const jobs = await listAnsweredJobs(services.db, { ids: batch.map(({ id }) => id) });
    if (jobs.length === 0) continue;
    const present = await jobPresenter(services, organization, [{ head, jobs, readGraph }]);
    yield comma + jobs.map((job) => JSON.stringify(present(job, head))).join(",");
    comma = ",";
  }
}

function withHeads(
  jobs: readonly AnsweredJob[],
  headById: ReadonlyMap<string, PresentedBuild>,
): JobsOfBuild[] {
  const byBuild = Map.groupBy(jobs, ({ job }) => job.buildId);
  return [...byBuild].flatMap(([id, jobs]) => {
    const head = headById.get(id);
    return head ? [{ head, jobs }] : [];
  });
}
