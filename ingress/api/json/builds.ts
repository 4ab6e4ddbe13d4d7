import type { Organization } from "../../../shared/accounts/organization-store.ts";
import { listUsersById } from "../../../shared/accounts/user-store.ts";
import { listAgentsById } from "../../../shared/agents/list-store.ts";
import { listReasonsOfBuilds } from "../../../shared/agents/waiting/reason.ts";
import { listMetaData } from "../../../shared/builds/meta-data/meta-data-store.ts";
import {
  type AnsweredJob,
  type AnswerSize,
  type JobSize,
  listAnsweredJobs,
  listJobSizes,
} from "../../../shared/builds/reading/answer-store.ts";
import { type Build, listBuildNumbers, listBuildsById } from "../../../shared/builds/rows/build-store.ts";
import { findPlacedGraph, type PlacedGraph } from "../../../shared/builds/rows/graph-store.ts";
import { listTriggeredBuilds } from "../../../shared/builds/triggered/store.ts";
import { type BuildDetails, presentBuild, presentBuildDetails } from "../../../shared/presenters/build.ts";
import { presentJob, usersOf } from "../../../shared/presenters/job.ts";
import type { Services } from "../../../shared/services/services.ts";
import { inBatches, pieceLength } from "../../http/transfers/json-stream.ts";
import type { BuildContent } from "../build-filter.ts";
import type { PipelineTexts } from "./pipelines.ts";

/** Builds or jobs of so many bytes are read at once: that takes a few milliseconds of the event loop. */
const maxBytes = 64 * 1024;
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
    const heads = await presentHeads(services, answer, batch);
    const isLarge = batch.some((build) => costOf(build) > maxBytes);
    const jobsOf =
      isLarge || !content.hasJobs ? undefined : await readJobs(services, answer, batch, [...heads.values()]);
    let text = "";
    for (const { id, pipelineId } of batch) {
      const head = heads.get(id);
      const pipeline = content.hasPipeline ? await texts.find(pipelineId) : [];
      if (!head || !pipeline) continue;
      const members = answer.readDetails
        ? { ...head.members, ...presentBuildDetails(await answer.readDetails()) }
        : head.members;
      text += `${comma}${JSON.stringify(members).slice(0, -1)}`;
      comma = ",";
      if (content.hasPipeline) text += ',"pipeline":';
      for (const part of pipeline) {
        text += part;
        if (text.length < pieceLength) continue;
        yield text;
        text = "";
      }
      if (content.hasJobs) text += ',"jobs":[';
      if (jobsOf) text += jobsOf(id);
      else if (content.hasJobs) {
        yield text;
        text = "";
        yield* writeJobs(services, answer, head);
      }
      text += content.hasJobs ? "]}" : "}";
    }
    yield text;
  }
}

interface Head {
  build: Build;
  pipeline: { slug: string };
  /** All of the build but its pipeline and jobs. */
  members: object;
}

async function presentHeads(
  { db, cipher, config }: Services,
  { organization, texts }: BuildsOfAnswer,
  batch: readonly AddressedBuild[],
): Promise<Map<string, Head>> {
  const ids = batch.map(({ id }) => id);
  const builds = [...(await listBuildsById(db, ids)).values()];
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
  return new Map(
    builds.flatMap((build): [string, Head][] => {
      const slug = texts.slugOf(build.pipelineId);
      if (slug === undefined) return []; // deleted after its builds were listed
      const pipeline = { slug };
      const entries = (metaData.get(build.id) ?? []).map(({ key, value }) => [key, value] as const);
      const rebuiltFrom = rebuiltById.get(build.rebuiltFromId ?? "");
      const details = { build, pipeline, metaData: Object.fromEntries(entries), rebuiltFrom };
      return [
        [
          build.id,
          { build, pipeline, members: presentBuild({ cipher, config, organization, users }, details) },
        ],
      ];
    }),
  );
}

/** Reads the jobs of small builds at once. */
async function readJobs(
  services: Services,
  answer: BuildsOfAnswer,
  batch: readonly AddressedBuild[],
  heads: readonly Head[],
): Promise<(buildId: string) => string> {
  const buildIds = batch.map(({ id }) => id);
  const jobs = await listAnsweredJobs(services.db, { ...answer.content, buildIds });
  const headById = new Map(heads.map((head) => [head.build.id, head]));
  const textOf = await jobWriter(services, answer.organization, withHeads(jobs, headById));
  const texts = Map.groupBy(jobs, ({ job }) => job.buildId);
  return (buildId) => {
    const head = headById.get(buildId);
    return head ? (texts.get(buildId) ?? []).map((job) => textOf(job, head)).join(",") : "";
  };
}

/** Reads the jobs of a large build some at a time. */
async function* writeJobs(services: Services, answer: BuildsOfAnswer, head: Head): AsyncGenerator<string> {
  const sizes = await listJobSizes(services.db, head.build.id, answer.content);
  yield* writeTheseJobs(services, answer.organization, head, sizes);
}

/** The items of a list of jobs of one build, with commas between them. */
export async function* writeTheseJobs(
  services: Services,
  organization: Organization,
  head: Pick<Head, "build" | "pipeline">,
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
    const textOf = await jobWriter(services, organization, [{ head, jobs, readGraph }]);
    yield comma + jobs.map((job) => textOf(job, head)).join(",");
    comma = ",";
  }
}

interface JobsOfBuild {
  head: Pick<Head, "build" | "pipeline">;
  jobs: readonly AnsweredJob[];
  readGraph?: () => Promise<PlacedGraph>;
}

function withHeads(jobs: readonly AnsweredJob[], headById: ReadonlyMap<string, Head>): JobsOfBuild[] {
  const byBuild = Map.groupBy(jobs, ({ job }) => job.buildId);
  return [...byBuild].flatMap(([id, jobs]) => {
    const head = headById.get(id);
    return head ? [{ head, jobs }] : [];
  });
}

/** Reads, for some jobs of some builds, all that their JSON names. */
async function jobWriter(
  services: Services,
  organization: Organization,
  all: readonly JobsOfBuild[],
): Promise<(job: AnsweredJob, head: Pick<Head, "build" | "pipeline">) => string> {
  const { db, config, clock } = services;
  const agents = await listAgentsById(
    db,
    all.flatMap(({ jobs }) => jobs.map(({ job }) => job.agentId)),
  );
  const reasons = await listReasonsOfBuilds(
    services,
    all.map(({ head, jobs, ...rest }) => ({ build: head.build, jobs: jobs.map(({ job }) => job), ...rest })),
  );
  const users = await listUsersById(
    db,
    all.flatMap(({ jobs }) => jobs.flatMap(usersOf)),
  );
  const triggers = all.flatMap(({ jobs }) => jobs.filter(({ job }) => job.type === "trigger"));
  const triggered = await listTriggeredBuilds(
    db,
    triggers.map(({ job }) => job.id),
  );
  const context = { config, org: organization.slug, agents, users, triggered, now: clock.now() };
  return (job, { build, pipeline }) =>
    JSON.stringify(presentJob(context, { ...job, build, pipeline, reason: reasons.get(job.job.id) }));
}
