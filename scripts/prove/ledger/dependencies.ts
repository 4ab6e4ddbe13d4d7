import type { JobState } from "../../../shared/vocabulary.ts";
import type { Run } from "../installation/marks.ts";
import { needs, tag, waitOfList } from "../installation/steps.ts";
import { checkOf } from "./discrepancy.ts";
import type { Ledger } from "./read.ts";

type Rows = Pick<Ledger, "jobs" | "agents">;
type Job = Ledger["jobs"][number];

type Moments = Pick<Run, "jobId" | "beganAt" | "endedAt">;

/** No command began before all that its step depends on had ended well, and every step ended as these say. */
export const checkDependencies = checkOf("dependencies", function* ({ jobs, agents }: Rows, runs: Moments[]) {
  const ofBuilds = Map.groupBy(jobs, ({ buildId }) => buildId);
  const runsOf = Map.groupBy(runs, ({ jobId }) => jobId);
  const tagged = new Set(agents.filter(({ metaData }) => metaData.includes(tag)).map(({ id }) => id));
  for (const job of jobs) {
    const { id, state, agentId } = job;
    const role = roleOf(job) ?? "";
    const { roles = [], allowFailure } = needs[role] ?? {};
    const began = Math.min(...(runsOf.get(id) ?? []).map(({ beganAt }) => beganAt));
    const needed = (ofBuilds.get(job.buildId) ?? []).filter((each) => isNeeded(each, job, roles));
    const bad = needed.filter((each) => !isSatisfied(each, allowFailure));
    const name = `job ${id} (${roleOf(job)})`;
    if (began < Number.POSITIVE_INFINITY)
      for (const each of bad) yield `${name} began, though ${nameOf(each)} ${each.state}`;
    for (const each of needed)
      if (lastMoment(runsOf.get(each.id)) > began) yield `${name} began before ${nameOf(each)} had ended`;
    if (isStopped(state) && needed.length > 0 && bad.length === 0)
      yield `${name} never began, though all was well`;
    if (state === "waiting" || state === "blocked") yield `${name} waits for ever`;
    if (role === "left out" && state !== "broken" && state !== "canceled")
      yield `${name} was not left out: ${state}`;
    if (role === "tagged" && agentId !== null && !tagged.has(agentId))
      yield `${name} was of an agent without its tag`;
  }
});

function isStopped(state: JobState): boolean {
  return state === "waiting_failed" || state === "blocked_failed";
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
