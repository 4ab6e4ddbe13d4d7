import type { JobState } from "../../../shared/vocabulary.ts";
import type { Run } from "../installation/marks.ts";
import { needs, tag, waitOfList } from "../installation/steps.ts";
import { type Discrepancy, discrepancy } from "./discrepancy.ts";
import type { Ledger } from "./read.ts";

type Rows = Pick<Ledger, "jobs" | "agents">;
type Job = Ledger["jobs"][number];

type Moments = Pick<Run, "jobId" | "beganAt" | "endedAt">;

/** No command began before all that its step depends on had ended well, and every step ended as these say. */
export function checkDependencies({ jobs, agents }: Rows, runs: Moments[]): Discrepancy[] {
  const ofBuilds = Map.groupBy(jobs, ({ buildId }) => buildId);
  const runsOf = Map.groupBy(runs, ({ jobId }) => jobId);
  const tagged = new Set(agents.filter(({ metaData }) => metaData.includes(tag)).map(({ id }) => id));
  return jobs.flatMap((job) => {
    const began = Math.min(...(runsOf.get(job.id) ?? []).map(({ beganAt }) => beganAt));
    const { roles = [], allowFailure } = needs[roleOf(job) ?? ""] ?? {};
    const needed = (ofBuilds.get(job.buildId) ?? []).filter((each) => isNeeded(each, job, roles));
    const bad = needed.filter((each) => !isSatisfied(each, allowFailure));
    const late = needed.filter((each) => lastMoment(runsOf.get(each.id)) > began);
    const problems = [
      ...(began < Number.POSITIVE_INFINITY ? bad : []).map(
        (each) => `began, though ${nameOf(each)} ${each.state}`,
      ),
      ...late.map((each) => `began before ${nameOf(each)} had ended`),
      (job.state === "waiting_failed" || job.state === "blocked_failed") &&
        needed.length > 0 &&
        bad.length === 0 &&
        "never began, though all was well",
      (job.state === "waiting" || job.state === "blocked") && "waits for ever",
      roleOf(job) === "left out" &&
        job.state !== "broken" &&
        job.state !== "canceled" &&
        `was not left out: ${job.state}`,
      roleOf(job) === "tagged" &&
        job.agentId !== null &&
        !tagged.has(job.agentId) &&
        "was of an agent without its tag",
    ];
    return problems
      .filter((each) => typeof each === "string")
      .map((words) => discrepancy("dependencies", `job ${job.id} (${roleOf(job)}) ${words}`));
  });
}

function isNeeded(each: Job, by: Job, roles: string[]): boolean {
  if (!roles.includes(roleOf(each) ?? "")) return false;
  return listOf(by) === undefined || listOf(each) === undefined || listOf(each) === listOf(by);
}

const satisfying: JobState[] = ["passed", "broken", "unblocked", "unblocked_failed"];

/** A retried job stands for nothing: its retry is there too. */
function isSatisfied({ state, retriedInJobId }: Job, allowFailure = false): boolean {
  if (retriedInJobId !== null || satisfying.includes(state)) return true;
  return allowFailure && ["failed", "timed_out", "expired", "waiting_failed"].includes(state);
}

/** The last that is known of its commands. */
function lastMoment(runs: Moments[] = []): number {
  return Math.max(...runs.map(({ beganAt, endedAt }) => endedAt ?? beganAt));
}

function nameOf(job: Job): string {
  return `${roleOf(job)} ${job.id}`;
}

function roleOf({ options }: Job): string | undefined {
  return options?.env?.PROVE_ROLE ?? options?.key;
}

/** The uploaded list that a job is of. */
export function listOf({ options }: Pick<Job, "options">): string | undefined {
  const { env, key } = options ?? {};
  return env?.PROVE_LIST ?? (key?.startsWith(waitOfList) ? key.slice(waitOfList.length) : undefined);
}
