import { hashToken } from "../../../shared/crypto/tokens.ts";
import { unfinishedBuildStates, unfinishedJobStates } from "../../../shared/vocabulary.ts";
import type { Run } from "../installation/marks.ts";
import { failures, type Kind, lastLine, linesOf, takesWay } from "../installation/steps.ts";
import { storedFiles, storedPattern } from "../installation/stored-files.ts";
import { checkOf } from "./discrepancy.ts";
import type { Ledger } from "./read.ts";

type Rows = Pick<Ledger, "builds" | "jobs" | "agents" | "jobTokens" | "logs" | "deliveries">;
type Job = Ledger["jobs"][number];
type Placed = Run & { attempt: number | null | undefined };

/** The default of JOB_RESTARTS. */
const maxRestarts = 3;
const lostReason = /^The agent was lost \d+ times$/;

/** Each job ended, by one command of its last attempt. */
export const checkJobs = checkOf("jobs", function* (rows: Rows, runs: Run[]) {
  const { builds, agents, jobs, jobTokens } = rows;
  const attemptOf = new Map(jobTokens.map(({ tokenHash, attempt }) => [tokenHash, attempt]));
  const placed = runs.map((run) => ({ ...run, attempt: attemptOf.get(hashToken(run.token)) }));
  const runsOf = Map.groupBy(placed, ({ jobId }) => jobId);
  const tokensOf = Map.groupBy(jobTokens, ({ jobId }) => jobId);
  for (const { id, state } of builds)
    if (unfinishedBuildStates.includes(state)) yield `build ${id} has not ended: ${state}`;
  for (const { id, jobId } of agents)
    if (jobs.some((job) => job.id === jobId && job.agentId !== id))
      yield `agent ${id} has job ${jobId} of another agent`;
  for (const job of jobs) {
    const attempts = [...new Set(tokensOf.get(job.id)?.map(({ attempt }) => attempt))].sort();
    const own = runsOf.get(job.id) ?? [];
    const problems = [
      ...findInAttempts(job, attempts, own),
      ...(job.type === "script" ? findInResult(job, own, rows) : []),
    ];
    for (const words of problems) yield `job ${job.id} (${job.label}) ${words}`;
  }
});

function* findInAttempts(
  { state, attempt, failureReason, retriesCount }: Job,
  attempts: unknown[],
  runs: Placed[],
) {
  if (unfinishedJobStates.includes(state)) yield `has not ended: ${state}`;
  if (attempts.length !== attempt) yield `had ${attempt} attempts, but tokens of ${attempts}`;
  if (attempt > maxRestarts + 1) yield `was begun ${attempt} times`;
  if (lostReason.test(failureReason ?? "") && attempt !== maxRestarts + 1)
    yield `was given up after ${attempt} attempts`;
  if (retriesCount > failures.limit) yield `was retried ${retriesCount} times`;
  if (new Set(runs.map((run) => run.attempt)).size !== runs.length) yield "ran twice in one attempt";
  if (runs.some((run) => run.attempt == null)) yield "ran with a token that is not stored";
}

function* findInResult(job: Job, runs: Placed[], rows: Rows) {
  const last = runs.find(({ attempt }) => attempt === job.attempt);
  const kind = job.label as Kind;
  const fails = kind === "flaky" && takesWay(kind, job.id);
  if (job.state === "failed" && job.exitStatus === failures.exitStatus) {
    if (!fails) yield "failed by itself";
    if (job.retriesCount < failures.limit && !job.retriedInJobId && !isCanceled(job, rows))
      yield "was not retried";
  }
  if (job.state !== "passed") return;
  const log = rows.logs.get(`${job.id} ${job.attempt}`);
  if (fails) yield "passed though it fails";
  if (!last) yield "passed, but no command ran in its last attempt";
  if (last?.isWhole === false) yield "passed, but its command did not come to its end";
  if (log !== expectedLog(job, rows))
    yield `passed, but its log is not whole: ${log?.length ?? 0} characters`;
}

function isCanceled({ buildId }: Job, { builds }: Rows): boolean {
  return builds.some(({ id, state }) => id === buildId && state === "canceled");
}

function expectedLog({ id, label, buildId }: Job, { builds, deliveries }: Rows): string {
  const kind = label as Kind;
  const deliveryId = builds.find((build) => build.id === buildId)?.deliveryId;
  const post = deliveries.find((delivery) => delivery.id === deliveryId)?.post;
  const payload = kind === "payload" && takesWay(kind, id) ? [`number ${post?.number}`] : [];
  const [first, last] = uploadLines(kind, buildId);
  return [...linesOf(kind, id), ...payload, ...first, lastLine, ...last, ""].join("\n");
}

/** Of what a command uploads, and of what its agent uploads afterwards. */
function uploadLines(kind: Kind, buildId: string): [string[], string[]] {
  if (kind !== "store") return [[], []];
  if (!takesWay(kind, buildId)) return [[], [`No file matches ${storedPattern}`]];
  const line = (count: number) => `Artifacts to upload: ${count}`;
  return [[line(1)], [line(Object.keys(storedFiles).length)]];
}
