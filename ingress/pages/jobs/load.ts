import { listAgentNames } from "../../../shared/agents/list-store.ts";
import { type JobWithLogs, logOfAttempt, requireJobWithLogs } from "../../../shared/agents/logs/logs.ts";
import type { ReadableLog } from "../../../shared/agents/logs/read.ts";
import { listNotifications } from "../../../shared/agents/stacks/notification-store.ts";
import { isWaitingAgain, listWaitingReasons } from "../../../shared/agents/waiting/reason.ts";
import { findAgentThatLost } from "../../../shared/agents/waiting/takers-store.ts";
import { countArtifactsUpTo } from "../../../shared/artifacts/browse-store.ts";
import { listJobsById, listRetriedJobs } from "../../../shared/builds/reading/job-list-store.ts";
import { requireBuild } from "../../../shared/builds/reading/require.ts";
import { listTriggeredBuilds } from "../../../shared/builds/triggered/store.ts";
import { maxCounted } from "../../../shared/db/list-page.ts";
import type { PipelineFacts } from "../../../shared/pipelines/store.ts";
import { listQueuesById } from "../../../shared/queues/store.ts";
import type { Services } from "../../../shared/services/services.ts";
import type { JobState } from "../../../shared/vocabulary.ts";
import { parseBuildNumber } from "../../http/routing.ts";
import { buildPath } from "../address/build.ts";
import { loadPipeline } from "../address/pipeline.ts";
import type { MemberRequest } from "../ui/member-page.ts";
import { addCrumbs } from "../ui/page-context.ts";

const maxRetries = 100;

export interface LoadedJob extends JobWithLogs {
  pipeline: PipelineFacts;
  attempt: number;
  readable: ReadableLog;
}

/** The job of the address, and the log of the attempt that it names. @throws Refusal 404 */
export async function loadJob(services: Services, request: MemberRequest): Promise<LoadedJob> {
  const pipeline = await loadPipeline(services, request);
  const number = parseBuildNumber(request.parameter("number"));
  const build = await requireBuild(services.db, pipeline, number);
  const found = await requireJobWithLogs(services.db, build, request.parameter("job"));
  addCrumbs(request.event, { text: `Build #${number}`, path: buildPath(request) });
  const named = request.event.url.searchParams.get("attempt") ?? "";
  const attempt = /^\d{1,9}$/.test(named) ? Math.min(Number(named), found.job.attempt) : found.job.attempt;
  return { ...found, pipeline, attempt, readable: logOfAttempt(found, attempt) };
}

/** Where a job runs or ran, and why it waits. */
export async function loadPlace(services: Services, { build, job }: LoadedJob) {
  const { db } = services;
  const artifacts = await countArtifactsUpTo(db, { buildId: build.id, jobId: job.id }, maxCounted + 1);
  const reason = (await listWaitingReasons(services, build, [job])).get(job.id);
  const isAgain = isWaitingAgain(job);
  return {
    artifacts,
    reason,
    isAgain,
    jobs: await listJobsById(db, reason?.kind === "steps" ? reason.jobIds : []),
    queue: (await listQueuesById(db, job.queueId === null ? [] : [job.queueId])).get(job.queueId ?? ""),
    agent: (await listAgentNames(db, [job.agentId])).get(job.agentId ?? ""),
    triggered: (await listTriggeredBuilds(db, job.type === "trigger" ? [job.id] : [])).get(job.id),
    notifications: await listNotifications(db, job.id),
    lostBy: isAgain ? await findAgentThatLost(db, job) : undefined,
  };
}

/** One run of a job by an agent. */
export interface Run {
  jobId: string;
  attempt: number;
  state: JobState;
}

/** The runs of a job, of those that it retries and of its retries, the first one first. */
export async function loadRuns({ db }: Services, { build, job }: LoadedJob): Promise<Run[]> {
  const hasOthers = job.retriesCount > 0 || job.retriedInJobId !== null;
  const retried = hasOthers ? await listRetriedJobs(db, build.id, [job.position], maxRetries) : [];
  const lastId = retried[0]?.retriedInJobId ?? job.id;
  const last = lastId === job.id ? job : (await listJobsById(db, [lastId])).get(lastId);
  return [...retried.toReversed(), ...(last ? [last] : [])].flatMap(({ id, attempt, state }) =>
    Array.from({ length: attempt }, (_, index) => ({ jobId: id, attempt: index + 1, state })),
  );
}
