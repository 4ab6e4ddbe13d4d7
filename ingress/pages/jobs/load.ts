import { listAgentNames } from "../../../shared/agents/list-store.ts";
import { type JobWithLogs, logOfAttempt, requireJobWithLogs } from "../../../shared/agents/logs/logs.ts";
import {
  type LogPage,
  readPageBefore,
  readPageFrom,
  readPageOfLine,
} from "../../../shared/agents/logs/page.ts";
import type { ReadableLog } from "../../../shared/agents/logs/read.ts";
import { listNotifications } from "../../../shared/agents/stacks/notification-store.ts";
import { isWaitingAgain, listWaitingReasons } from "../../../shared/agents/waiting/reason.ts";
import { findAgentThatLost } from "../../../shared/agents/waiting/takers-store.ts";
import { countArtifactsUpTo } from "../../../shared/artifacts/browse-store.ts";
import { listJobsById } from "../../../shared/builds/reading/job-list-store.ts";
import { requireBuild } from "../../../shared/builds/reading/require.ts";
import { listTriggeredBuilds } from "../../../shared/builds/triggered/store.ts";
import { maxCounted } from "../../../shared/db/list-page.ts";
import type { PipelineFacts } from "../../../shared/pipelines/store.ts";
import { listQueuesById } from "../../../shared/queues/store.ts";
import type { Services } from "../../../shared/services/services.ts";
import { parseBuildNumber } from "../../http/routing.ts";
import { buildPath } from "../address/build.ts";
import { loadPipeline } from "../address/pipeline.ts";
import type { MemberRequest } from "../ui/member-page.ts";
import { addCrumbs } from "../ui/page-context.ts";

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
  const attempt = Math.min(numberOf(request, "attempt") ?? found.job.attempt, found.job.attempt);
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

/** The lines that the address asks for. Without any: the end of a log that grows or of a failure, else the beginning. */
export async function loadLines(
  { db }: Services,
  request: MemberRequest,
  { job, readable }: LoadedJob,
): Promise<LogPage> {
  const line = lineOf(request);
  if (line !== undefined) return readPageOfLine(db, readable, line);
  const from = numberOf(request, "from");
  if (from !== undefined) return readPageFrom(db, readable, Math.min(from, readable.log.size));
  const before = numberOf(request, "before");
  if (before) return readPageBefore(db, readable, Math.min(before, readable.log.size));
  const showsEnd = readable.isOpen || ["failed", "timed_out", "canceled"].includes(job.state);
  if (showsEnd || request.event.url.searchParams.has("end")) return readPageBefore(db, readable);
  return readPageFrom(db, readable, 0);
}

/** The number of the line that the address names. */
export function lineOf(request: MemberRequest): number | undefined {
  return numberOf(request, "line");
}

function numberOf({ event }: MemberRequest, name: string): number | undefined {
  const given = event.url.searchParams.get(name) ?? "";
  return /^\d{1,15}$/.test(given) ? Number(given) : undefined;
}
