import { hashToken } from "../../../shared/crypto/tokens.ts";
import { unfinishedBuildStates, unfinishedJobStates } from "../../../shared/vocabulary.ts";
import type { Run } from "../installation/marks.ts";
import { failures, type Kind, lastLine, lines, takesOtherWay } from "../installation/steps.ts";
import { storedFiles, storedPattern } from "../installation/stored-files.ts";
import { type Discrepancy, discrepancy } from "./discrepancy.ts";
import type { Ledger } from "./read.ts";

type Rows = Pick<Ledger, "builds" | "jobs" | "agents" | "jobTokens" | "logs" | "deliveries">;
type Job = Ledger["jobs"][number];

/** The default of JOB_RESTARTS. */
const maxRestarts = 3;
const lostReason = /^The agent was lost \d+ times$/;

/** Each job ended, by one command of its last attempt. */
export function checkJobs(rows: Rows, runs: Run[]): Discrepancy[] {
  const attemptOf = new Map(rows.jobTokens.map(({ tokenHash, attempt }) => [tokenHash, attempt]));
  const placed = runs.map((run) => ({ ...run, attempt: attemptOf.get(hashToken(run.token)) }));
  const runsOf = Map.groupBy(placed, ({ jobId }) => jobId);
  const tokensOf = Map.groupBy(rows.jobTokens, ({ jobId }) => jobId);
  const wrong = (job: Job, words: string) => discrepancy("jobs", `job ${job.id} (${job.label}) ${words}`);
  return [
    ...rows.builds
      .filter(({ state }) => unfinishedBuildStates.includes(state))
      .map(({ id, state }) => discrepancy("jobs", `build ${id} has not ended: ${state}`)),
    ...rows.agents
      .filter(({ id, jobId }) => rows.jobs.some((job) => job.id === jobId && job.agentId !== id))
      .map(({ id, jobId }) => discrepancy("jobs", `agent ${id} has job ${jobId} of another agent`)),
    ...rows.jobs.flatMap((job) => {
      const attempts = [...new Set(tokensOf.get(job.id)?.map(({ attempt }) => attempt))].sort();
      const own = runsOf.get(job.id) ?? [];
      const problems = [
        unfinishedJobStates.includes(job.state) && `has not ended: ${job.state}`,
        attempts.length !== job.attempt && `had ${job.attempt} attempts, but tokens of ${attempts}`,
        job.attempt > maxRestarts + 1 && `was begun ${job.attempt} times`,
        lostReason.test(job.failureReason ?? "") &&
          job.attempt !== maxRestarts + 1 &&
          `was given up after ${job.attempt} attempts`,
        job.retriesCount > failures.limit && `was retried ${job.retriesCount} times`,
        new Set(own.map(({ attempt }) => attempt)).size !== own.length && "ran twice in one attempt",
        own.some(({ attempt }) => attempt == null) && "ran with a token that is not stored",
        ...(job.type === "script" ? checkResult(job, own, rows) : []),
      ];
      return problems.filter((each) => typeof each === "string").map((words) => wrong(job, words));
    }),
  ];
}

function checkResult(
  job: Job,
  runs: { attempt: number | null | undefined; isWhole: boolean }[],
  rows: Rows,
): (string | false)[] {
  const last = runs.find(({ attempt }) => attempt === job.attempt);
  const kind = job.label as Kind;
  const fails = kind === "flaky" && takesOtherWay(kind, job.id);
  const isRuled = job.state === "failed" && job.exitStatus === failures.exitStatus;
  if (isRuled)
    return [
      !fails && "failed by itself",
      job.retriesCount < failures.limit && !job.retriedInJobId && !isCanceled(job, rows) && "was not retried",
    ];
  if (job.state !== "passed") return [];
  const log = rows.logs.get(`${job.id} ${job.attempt}`);
  return [
    fails && "passed though it fails",
    !last && "passed, but no command ran in its last attempt",
    last?.isWhole === false && "passed, but its command did not come to its end",
    log !== expectedLog(job, rows) && `passed, but its log is not whole: ${log?.length ?? 0} characters`,
  ];
}

function isCanceled({ buildId }: Job, { builds }: Rows): boolean {
  return builds.some(({ id, state }) => id === buildId && state === "canceled");
}

function expectedLog({ id, label, buildId }: Job, { builds, deliveries }: Rows): string {
  const kind = label as Kind;
  const numbered = Array.from({ length: lines[kind] }, (_, index) => `${id} line ${index + 1}`);
  const deliveryId = builds.find((build) => build.id === buildId)?.deliveryId;
  const post = deliveries.find((delivery) => delivery.id === deliveryId)?.post;
  const payload = kind === "payload" && takesOtherWay(kind, id) ? [`number ${post?.number}`] : [];
  const [first, last] = uploadLines(kind, buildId);
  return [...numbered, ...payload, ...first, lastLine, ...last, ""].join("\n");
}

/** Of what a command uploads, and of what its agent uploads afterwards. */
function uploadLines(kind: Kind, buildId: string): [string[], string[]] {
  if (kind !== "store") return [[], []];
  if (!takesOtherWay(kind, buildId)) return [[], [`No file matches ${storedPattern}`]];
  const line = (count: number) => `Artifacts to upload: ${count}`;
  return [[line(1)], [line(Object.keys(storedFiles).length)]];
}
