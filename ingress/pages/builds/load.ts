import { listUsersById } from "../../../shared/accounts/user-store.ts";
import { listAgentNames } from "../../../shared/agents/list-store.ts";
import { listWaitingReasons, type WaitingReason } from "../../../shared/agents/waiting/reason.ts";
import {
  listJobsById,
  listJobsPage,
  listQueueIdsOfScheduled,
  listRetriedJobs,
} from "../../../shared/builds/reading/job-list-store.ts";
import { findLastPassed, findNeighbors } from "../../../shared/builds/reading/neighbors-store.ts";
import { findCanceler } from "../../../shared/builds/reading/require.ts";
import { listUnblockable } from "../../../shared/builds/rows/blocked-store.ts";
import {
  type ListedBuild,
  listBuildNumbers,
  listBuildTimes,
} from "../../../shared/builds/rows/build-store.ts";
import { givenEnvironment } from "../../../shared/builds/rows/environment.ts";
import { pullRequestOf, tagOf } from "../../../shared/builds/rows/facts.ts";
import { findPlacedGraph } from "../../../shared/builds/rows/graph-store.ts";
import type { Job } from "../../../shared/builds/rows/job-store.ts";
import { countFailedJobs } from "../../../shared/builds/rows/progress-store.ts";
import { listTriggeredBuilds } from "../../../shared/builds/triggered/store.ts";
import { connectedProviders } from "../../../shared/connections/connected.ts";
import { hashToken } from "../../../shared/crypto/tokens.ts";
import { listPipelineNamesById } from "../../../shared/pipelines/store.ts";
import { openLoopPauses } from "../../../shared/process/loop-pauses.ts";
import { listQueuesById } from "../../../shared/queues/store.ts";
import type { Services } from "../../../shared/services/services.ts";
import { providerOf } from "../../../shared/sources/providers.ts";
import { findPayloadSize } from "../../../shared/triggers/payloads/store.ts";
import { findTriggerNameOfDelivery } from "../../../shared/triggers/store.ts";
import { admitDownload } from "../../http/downloads.ts";
import { readPageOf, readWithin } from "../../http/number-pager.ts";
import { loadBuild } from "../address/build.ts";
import { loadSource } from "../commits/source.ts";
import { statesOf } from "../states/kinds.ts";
import type { MemberRequest } from "../ui/member-page.ts";
import { readJobFilter } from "./job-filter.tsx";
import type { PlacedBuild } from "./list.tsx";
import { chooseStages, jobsOfStages } from "./stages/choose.ts";

const jobsPerPage = 200;
/** Earlier attempts of all jobs of a page. A job's own page leads to further ones. */
const maxEarlierAttempts = 100;
/** Builds of the pipeline whose times say what is usual. */
const maxLastBuilds = 50;
/** Forms of steps that somebody can unblock. */
const maxUnblocks = 10;
/** Of their questions. Those of one step may have a megabyte, which is six as HTML: the first form is always there. */
const maxUnblockBytes = 256 * 1024;

export type LoadedBuild = Awaited<ReturnType<typeof loadBuildDetails>>;

/** The build with one page of its jobs. @throws Refusal 404 */
export async function loadBuildDetails(services: Services, request: MemberRequest) {
  const { db } = services;
  const { build, pipeline } = await loadBuild(services, request);
  const { deliveryId, rebuiltFromId } = build;
  const filter = readJobFilter(request);
  const wanted = { ...(filter.kind && statesOf(filter.kind)), name: filter.name };
  const list = await readWithin(readPageOf(request.event, jobsPerPage), (page) =>
    listJobsPage(db, build.id, page, wanted),
  );
  const jobs = list.rows.map(({ job }) => job);
  const pause = openLoopPauses();
  const graph = await findPlacedGraph(db, build);
  await pause();
  const reasons = await listWaitingReasons(services, build, jobs, graph);
  await pause();
  const stages = chooseStages(graph, readStage(request));
  const waitedFor = await listQueueIdsOfScheduled(db, build.id);
  const queues = await listQueuesById(db, [...waitedFor, ...jobs.flatMap(({ queueId }) => queueId ?? [])]);
  const pausedQueues = [...queues.values()].filter(
    ({ id, dispatchPausedAt }) => dispatchPausedAt && waitedFor.includes(id),
  );
  const unblockers = jobs.map(({ unblockedById }) => unblockedById);
  const userIds = [
    build.creatorId,
    ...unblockers,
    ...pausedQueues.map(({ dispatchPausedById }) => dispatchPausedById),
  ];
  const retried = jobs.filter(({ retryOfJobId }) => retryOfJobId).map(({ position }) => position);
  const unblockable = build.hasGraph ? await listUnblockable(db, build.id, maxUnblocks + 1) : [];
  const forms = thatFit(unblockable.slice(0, maxUnblocks));
  const [rebuiltFrom] = await listBuildNumbers(db, rebuiltFromId === null ? [] : [rebuiltFromId]);
  const given = givenEnvironment(services.cipher, build);
  const { agentEnvPrefix } = services.config;
  return {
    build,
    pipeline,
    source: await loadSource(services, pipeline),
    list,
    filter,
    placed: graph.jobs,
    queues,
    pausedQueues,
    rebuiltFrom,
    pullRequest: pullRequestOf(build, given, agentEnvPrefix),
    tag: tagOf(build, given, agentEnvPrefix),
    stages,
    reasons,
    unblockable: forms,
    hasMoreUnblockable: unblockable.length > forms.length,
    warnings: graph.warnings,
    blocking: await listJobsById(db, jobsOfReasons(reasons.values())),
    named: await listJobsById(db, stages ? jobsOfStages(stages) : []),
    triggered: await listTriggeredBuilds(db, triggersOf(jobs)),
    earlier: Map.groupBy(
      await listRetriedJobs(db, build.id, retried, maxEarlierAttempts),
      ({ position }) => position,
    ),
    failedJobs: await countFailedJobs(db, build.id),
    agents: await listAgentNames(
      db,
      jobs.map(({ agentId }) => agentId),
    ),
    users: await listUsersById(
      db,
      userIds.filter((id) => id !== null),
    ),
    canceler: await findCanceler(db, build),
    trigger: deliveryId === null ? undefined : await findTriggerNameOfDelivery(db, deliveryId),
    payloadBytes: deliveryId === null ? undefined : await findPayloadSize(db, deliveryId),
    neighbors: await findNeighbors(db, build),
    lastPassed: await findLastPassed(db, build),
    lastBuilds: await listBuildTimes(db, pipeline.id, maxLastBuilds),
  };
}

/** The jobs of trigger steps among some jobs. */
function triggersOf(jobs: Pick<Job, "id" | "type">[]): string[] {
  return jobs.filter(({ type }) => type === "trigger").map(({ id }) => id);
}

/** The place of the stage that the address names, from 0. */
function readStage({ event }: MemberRequest): number | undefined {
  const given = event.url.searchParams.get("stage") ?? "";
  return /^[1-9]\d{0,4}$/.test(given) ? Number(given) - 1 : undefined;
}

/** The jobs that reasons name. */
function jobsOfReasons(reasons: Iterable<WaitingReason>): string[] {
  return [...reasons].flatMap((reason) => (reason.kind === "steps" ? reason.jobIds : []));
}

/** Leaves out builds whose pipeline was deleted since. */
export async function withPipelines(
  services: Pick<Services, "db">,
  builds: ListedBuild[],
): Promise<PlacedBuild[]> {
  const { db } = services;
  const [first] = builds;
  if (!first) return [];
  const connected = await connectedProviders(services, first.organizationId);
  const pipelineIds = [...new Set(builds.map(({ pipelineId }) => pipelineId))];
  const pipelines = new Map((await listPipelineNamesById(db, pipelineIds)).map((each) => [each.id, each]));
  const users = await listUsersById(
    db,
    builds.flatMap(({ creatorId }) => creatorId ?? []),
  );
  return builds.flatMap((build) => {
    const pipeline = pipelines.get(build.pipelineId);
    if (!pipeline) return [];
    const { repository } = pipeline;
    const source = { repository, provider: providerOf(repository, connected) };
    return { build, pipeline, source, creator: users.get(build.creatorId ?? "")?.name };
  });
}

/** Call before the whole payload of a delivery is loaded. @throws Refusal 429, 503 */
export async function admitPayload(
  { db }: Services,
  { event, visitor, organization }: MemberRequest,
  deliveryId: string | null,
): Promise<void> {
  const bytes = deliveryId === null ? 0 : ((await findPayloadSize(db, deliveryId)) ?? 0);
  const holder = `session ${hashToken(visitor.token)}`;
  admitDownload(event, { holder, organizationId: organization.id, bytes });
}

function thatFit(unblockable: Job[]): Job[] {
  let bytes = 0;
  return unblockable.filter(({ options }, index) => {
    bytes += Buffer.byteLength(JSON.stringify(options?.manual ?? null));
    return index === 0 || bytes <= maxUnblockBytes;
  });
}
